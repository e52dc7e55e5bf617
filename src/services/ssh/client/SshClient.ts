import { Context, Effect } from "effect"
import { homedir, userInfo } from "node:os"
import { join } from "node:path"
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
  defaultValue: (): SshClientPlace => ({
    home: homedir(),
    directory: join(homedir(), ".ssh"),
    user: userInfo().username
  })
}) {}

/** What the user's `known_hosts` has for a host; nothing where it cannot be read. */
export const userKnownHost = (host: string, port: number): Effect.Effect<KnownHost> =>
  Effect.gen(function*() {
    const { directory } = yield* SshClient
    const text = yield* Effect.orElseSucceed(readSshFile(join(directory, "known_hosts")), () => "")
    return knownHost(text, host, port)
  })
