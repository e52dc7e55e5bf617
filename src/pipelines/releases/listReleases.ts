import { Effect } from "effect"
import { type Release, ReleasesFailed } from "../../schema/Release.ts"
import { remotePathIn, type RemotePathInvalid } from "../../schema/RemotePath.ts"
import type { ServerAccess, ServerNotFound } from "../../schema/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { execute } from "../remote/execute.ts"
import { parseReleases, releasesCommand, type RemoteRelease } from "../remote/releases.ts"
import { dockerHelp } from "../servers/dockerHelp.ts"

// Five releases of ten thousand files each.
const longestAnswer = 8 * 1024 * 1024

/** The releases of a remote path as the server has them, newest first. */
export const readReleases = Effect.fn("readReleases")(function*(
  server: ServerAccess,
  remotePath: string
): Effect.fn.Return<ReadonlyArray<RemoteRelease>, ReleasesFailed, Ssh> {
  const { stdout } = yield* Effect.mapError(
    execute(server, releasesCommand(remotePath, server.useSudo), { maxOutput: longestAnswer }),
    ({ message }) => new ReleasesFailed({ remotePath, server: server.name, reason: dockerHelp(message, server) })
  )
  return parseReleases(stdout)
})

const shown = ({ at, id, images, isCurrent, manifest, missing }: RemoteRelease): Release => ({
  id,
  at,
  by: manifest.by,
  images,
  files: [manifest.composeFile, ...manifest.envFiles, ...manifest.files, ...manifest.largeFiles],
  current: isCurrent,
  available: missing.length === 0
})

/** What deploys left in a directory of a server, newest first; nothing where nobody deployed to it. */
export const listReleases = Effect.fn("listReleases")(function*(
  serverId: string,
  remotePath: string
): Effect.fn.Return<
  ReadonlyArray<Release>,
  ReleasesFailed | ServerNotFound | SettingsError | RemotePathInvalid,
  Settings | Ssh
> {
  const server = yield* (yield* Settings).server(serverId)
  const path = yield* remotePathIn("remotePath", remotePath)
  return (yield* readReleases(server, path)).map(shown)
})
