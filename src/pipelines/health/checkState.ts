import { Path } from "@effect/platform"
import { Effect } from "effect"
import type { Finding } from "../../schema/Health.ts"
import { freeDisk } from "../../services/local/freeDisk.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Less than this of free disk, in bytes, is a finding. */
export const leastFree = 512 * 1024 * 1024

/** Bytes in words: `1,234 MiB`. */
export const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024).toLocaleString("en-US")} MiB`

/** A directory of this machine and how many bytes its disk has free. */
export interface Room {
  readonly directory: string
  readonly free: number
}

/** Whether every one of these directories has room. */
export const diskFinding = (rooms: ReadonlyArray<Room>): Finding => {
  const name = "free disk"
  const detail = rooms.map(({ directory, free }) => `${mebibytes(free)} free on this machine at ${directory}`).join(
    ", "
  )
  const short = rooms.find(({ free }) => free < leastFree)
  return short === undefined
    ? { name, ok: true, detail }
    : {
      name,
      ok: false,
      detail,
      fix: `Free disk space at ${short.directory}, at least ${
        mebibytes(leastFree)
      }: old image archives are the first to go`
    }
}

/** Whether this machine has room for archives, and for settings and the history of runs. */
export const checkDisk = Effect.gen(function*() {
  const path = yield* Path.Path
  const { file, get } = yield* Settings
  const directories = new Set([yield* get("projects.root"), path.dirname(file)])
  return diskFinding(
    yield* Effect.forEach(directories, (directory) => Effect.map(freeDisk(directory), (free) => ({ directory, free })))
  )
})

/** Whether runs can be recorded, tried by writing to where they are. */
export const checkRuns = Effect.gen(function*() {
  const { bytes, store } = yield* (yield* Runs).checkStore
  return { name: "history of runs", ok: true, detail: `${store} can be written, and takes ${mebibytes(bytes)}` }
})
