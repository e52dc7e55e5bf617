import { Context, Effect } from "effect"
import { join } from "node:path"
import { resolveHomeDirectory } from "../local/resolveHomeDirectory.ts"
import { readUserName } from "../local/userName.ts"
import { findKnownHost, type KnownHost } from "./knownHosts.ts"
import { readSshFile } from "./sshFile.ts"

/** Files of the SSH client of this process's user. */
export interface SshClientPlace {
  readonly home: string
  readonly directory: string
  /** Empty for a user id without a name, as containers have. */
  readonly user: string
}

/** Location of the SSH client's files; replaced in tests. */
export class SshClient extends Context.Reference<SshClient>()("berth/SshClient", {
  // The default is created once per process; its getters read the environment on each access.
  defaultValue: (): SshClientPlace => ({
    get home() {
      return resolveHomeDirectory()
    },
    get directory() {
      return join(resolveHomeDirectory(), ".ssh")
    },
    get user() {
      return readUserName()
    }
  })
}) {}

/** Entries of the user's `known_hosts` for a host, and its path; no entries when it cannot be read. */
export const readUserKnownHost = (
  { host, port }: { readonly host: string; readonly port: number }
): Effect.Effect<KnownHost & { readonly file: string }> =>
  Effect.gen(function*() {
    const { directory } = yield* SshClient
    const file = join(directory, "known_hosts")
    const text = yield* Effect.orElseSucceed(readSshFile(file), () => "")
    return { ...findKnownHost(text, host, port), file }
  })
