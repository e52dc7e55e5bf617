import { Effect } from "effect"
import type { RemoteRelease } from "../../remote/activation/releasesCommand.ts"
import type { Release, ReleasesFailed } from "../../schema/deploy/Release.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { listReleaseFiles } from "../activation/reactivate.ts"
import { readReleases } from "../activation/readReleases.ts"
import { resolveStack, type StackRefused } from "../servers/resolveStack.ts"

/** A release as callers see it. */
export const toRelease = (release: RemoteRelease): Release => {
  const { at, id, images, isCurrent, manifest, missing } = release
  return {
    id,
    at,
    by: manifest.by,
    images,
    files: listReleaseFiles(release),
    current: isCurrent,
    available: missing.length === 0
  }
}

/** Releases in a directory of a server, newest first. */
export const listReleases = Effect.fn("listReleases")(function*(
  serverId: string,
  remotePath: string
): Effect.fn.Return<ReadonlyArray<Release>, ReleasesFailed | StackRefused, Settings | Ssh> {
  const { remotePath: path, server } = yield* resolveStack({ remotePath, serverId })
  return (yield* readReleases(server, path)).map(toRelease)
})
