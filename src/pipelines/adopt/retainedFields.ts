import { PlatformEntry, type RawEntry } from "../../schema/applications/PlatformFile.ts"
import type { LiveEntry } from "./buildLiveEntry.ts"

const isReadable = ({ entry, unknown }: LiveEntry) => (key: string) =>
  key !== "service" && !unknown.some(({ field }) => field === key) && (key !== "server" || "server" in entry)

/** Fields of the earlier entry that the platform does not report: unknown keys and hidden values. */
export const retainedFields = (earlier: RawEntry, live: LiveEntry): RawEntry => {
  const known = Object.keys(PlatformEntry.fields)
  return Object.fromEntries(
    Object.entries(earlier).filter(([key]) => !known.includes(key) || !isReadable(live)(key))
  )
}
