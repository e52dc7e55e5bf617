import { Effect } from "effect"
import { parseRemotePath, parseStackPath, type RemotePathInvalid } from "../../schema/servers/RemotePath.ts"
import type { ServerUnresolved } from "../../schema/servers/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Stack as requests name it. */
interface RequestedStack {
  readonly serverId: string
  readonly remotePath: string
}

/** Reasons why the server or the remote path of a request is refused. */
export type StackRefused = RemotePathInvalid | ServerUnresolved | SettingsError

const resolveBy = (checkPath: typeof parseRemotePath) => ({ remotePath, serverId }: RequestedStack) =>
  Effect.gen(function*() {
    const server = yield* (yield* Settings).server(serverId)
    return { server, remotePath: yield* checkPath("remotePath", remotePath) }
  })

/** Finds the stored server of a request, and checks the remote path. */
export const resolveStack = resolveBy(parseRemotePath)

/** The same for a stack that is written to: never where Berth keeps its notes of another one. */
export const resolveStackToChange = resolveBy(parseStackPath)
