import { Effect } from "effect"
import type { Release, ReleasesFailed } from "../../schema/Release.ts"
import { remotePathIn, type RemotePathInvalid } from "../../schema/RemotePath.ts"
import type { ServerUnresolved } from "../../schema/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { filesOf } from "../deploy/reactivate.ts"
import { readReleases } from "../deploy/readReleases.ts"
import type { RemoteRelease } from "../remote/releases.ts"

const shown = (release: RemoteRelease): Release => {
  const { at, id, images, isCurrent, manifest, missing } = release
  return {
    id,
    at,
    by: manifest.by,
    images,
    files: filesOf(release),
    current: isCurrent,
    available: missing.length === 0
  }
}

/** What deploys left in a directory of a server, newest first; nothing where nobody deployed to it. */
export const listReleases = Effect.fn("listReleases")(function*(
  serverId: string,
  remotePath: string
): Effect.fn.Return<
  ReadonlyArray<Release>,
  ReleasesFailed | ServerUnresolved | SettingsError | RemotePathInvalid,
  Settings | Ssh
> {
  const server = yield* (yield* Settings).server(serverId)
  const path = yield* remotePathIn("remotePath", remotePath)
  return (yield* readReleases(server, path)).map(shown)
})
