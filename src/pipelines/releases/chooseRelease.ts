import { Either } from "effect"
import type { RemoteRelease } from "../../remote/activation/releasesCommand.ts"
import { ReleaseNotFound, ReleaseUnavailable } from "../../schema/deploy/Release.ts"

const shortId = (id: string) => id.slice(0, "sha256:".length + 12)

/**
 * Selects the release of a rollback: the requested one, else the one before the current one, else the newest one if
 * what runs is not a release. Fails if there is none, or if the server lacks one of its images.
 * @param releases the newest first
 */
export const chooseRelease = (
  releases: ReadonlyArray<RemoteRelease>,
  wanted: string | null,
  { remotePath, server }: { readonly remotePath: string; readonly server: string }
): Either.Either<RemoteRelease, ReleaseNotFound | ReleaseUnavailable> => {
  const at = releases.findIndex(({ isCurrent }) => isCurrent)
  const current = releases[at]?.id ?? null
  const chosen = wanted === null ? releases[at + 1] : releases.find(({ id }) => id === wanted)
  if (chosen === undefined) {
    const known = releases.map(({ id }) => id)
    return Either.left(new ReleaseNotFound({ release: wanted, remotePath, server, known, current }))
  }
  if (chosen.missing.length === 0) return Either.right(chosen)
  return Either.left(
    new ReleaseUnavailable({
      release: chosen.id,
      server,
      missing: chosen.missing.map(({ id, name }) => id === name ? shortId(id) : `${name} (${shortId(id)})`),
      current,
      available: releases.filter(({ isCurrent, missing }) => !isCurrent && missing.length === 0).map(({ id }) => id)
    })
  )
}
