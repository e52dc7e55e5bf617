import { Option } from "effect"
import type { ReleaseImage } from "../../schema/deploy/Release.ts"
import { makeLineLimit } from "../../services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { parseManifest, type ReleaseManifest } from "./releaseManifest.ts"
import { script } from "./releases.sh.ts"

/** Lists the releases of a remote path. */
export const releasesCommand = (remotePath: string, sudo: boolean): RemoteCommand => ({
  what: "listing the releases",
  script,
  args: [remotePath],
  sudo,
  // Enough for twenty releases of ten thousand files each.
  limit: makeLineLimit(8, 200_000)
})

/** A release as reported by its server. */
export interface RemoteRelease {
  readonly id: string
  readonly at: string
  readonly isCurrent: boolean
  readonly images: ReadonlyArray<ReleaseImage>
  /** Its images that the server no longer has. */
  readonly missing: ReadonlyArray<ReleaseImage>
  readonly manifest: ReleaseManifest
}

const valueOf = (lines: ReadonlyArray<string>, key: string) =>
  Option.fromNullable(lines.find((line) => line.startsWith(`${key}\t`))?.slice(key.length + 1))

/** Parses the answer of `releasesCommand`, newest first. */
export const parseReleases = (output: string): ReadonlyArray<RemoteRelease> => {
  const lines = output.split("\n")
  const here = new Set(lines.flatMap((line) => line.startsWith("here\t") ? [line.slice("here\t".length)] : []))
  const notes: Array<{ readonly id: string; readonly isCurrent: boolean; readonly lines: Array<string> }> = []
  for (const line of lines) {
    const [, id, marker] = /^release\t(\d+)\t(.*)$/.exec(line) ?? []
    if (id === undefined) notes.at(-1)?.lines.push(line)
    else notes.push({ id, isCurrent: marker === "current", lines: [] })
  }
  return notes.flatMap(({ id, isCurrent, lines }) => {
    const images = lines.flatMap((line) => {
      const [label, id, name] = line.split("\t")
      return label === "image" && id !== undefined && name !== undefined ? [{ name, id }] : []
    })
    return Option.toArray(Option.map(valueOf(lines, "at"), (at) => ({
      id,
      at,
      isCurrent,
      images,
      missing: images.filter((image) => !here.has(image.id)),
      manifest: parseManifest(lines)
    })))
  }).toSorted((one, other) => Number(other.id) - Number(one.id))
}
