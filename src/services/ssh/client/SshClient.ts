import { Context, Effect } from "effect"
import { userInfo } from "node:os"
import { join } from "node:path"
import { homeDirectory } from "../../local/homeDirectory.ts"
import { type KnownHost, knownHost } from "./knownHosts.ts"
import { readSshFile } from "./sshFile.ts"

/** Where the user of this process keeps the files of the SSH client. */
export interface SshClientPlace {
  readonly home: string
  readonly directory: string
  readonly user: string
}

/** The place of the SSH client's files; another one in tests. */
export class SshClient extends Context.Reference<SshClient>()("berth/SshClient", {
  // Made once in a process, whose environment may change.
  defaultValue: (): SshClientPlace => ({
    get home() {
      return homeDirectory()
    },
    get directory() {
      return join(homeDirectory(), ".ssh")
    },
    get user() {
      return userInfo().username
    }
  })
}) {}

/** What the user's `known_hosts` has for a host; nothing where it cannot be read. */
export const userKnownHost = (host: string, port: number): Effect.Effect<KnownHost> =>
  Effect.gen(function*() {
    const { directory } = yield* SshClient
    const text = yield* Effect.orElseSucceed(readSshFile(join(directory, "known_hosts")), () => "")
    return knownHost(text, host, port)
  })
