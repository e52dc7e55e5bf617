import { Either } from "effect"
import { ReleaseNotFound, ReleaseUnavailable } from "../../schema/Release.ts"
import type { RemoteRelease } from "../remote/releases.ts"

const shortId = (id: string) => id.slice(0, "sha256:".length + 12)

/**
 * The release to go back to: the wanted one, else the one before the current one, else, where what runs is no release, the
 * newest one. Fails where there is none, or where the server has no longer all of its images.
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
