import { Data, Effect } from "effect"
import { statfs } from "node:fs/promises"
import { readErrorCode } from "./readErrorCode.ts"

/** The free space of a disk cannot be determined. */
export class DiskUnknown extends Data.TaggedError("DiskUnknown")<{ readonly message: string }> {}

/** Bytes that this user can still write to the disk of a local path. */
export const readFreeDisk = (path: string): Effect.Effect<number, DiskUnknown> =>
  Effect.map(
    Effect.tryPromise({
      try: () => statfs(path),
      catch: (cause) => {
        const words = cause instanceof Error ? cause.message : "cannot be looked at"
        return new DiskUnknown({
          message: readErrorCode(cause) === "ENOENT" ? `${path} does not exist: create it` : `${path}: ${words}`
        })
      }
    }),
    ({ bavail, bsize }) => bavail * bsize
  )
