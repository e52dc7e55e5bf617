import { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { type Finding, projectsFinding } from "../../schema/Health.ts"
import { readFreeDisk } from "../../services/local/freeDisk.ts"
import { LocalFiles } from "../../services/local/LocalFiles.ts"
import { resolveHomeDirectory } from "../../services/local/resolveHomeDirectory.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Minimum free disk space in bytes; less is a finding. */
export const leastFree = 512 * 1024 * 1024

/** Formats bytes as `1,234 MiB`. */
export const formatWholeMebibytes = (bytes: number): string =>
  `${Math.floor(bytes / 1024 / 1024).toLocaleString("en-US")} MiB`

/** A local directory and the free bytes of its disk. */
export interface FreeSpace {
  readonly directory: string
  readonly free: number
}

export const checkFreeDisk = (rooms: ReadonlyArray<FreeSpace>): Finding => {
  const name = "free disk"
  const detail = rooms.map(({ directory, free }) =>
    `${formatWholeMebibytes(free)} free on this machine at ${directory}`
  ).join(
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
        formatWholeMebibytes(leastFree)
      }: old image archives are the first to go`
    }
}

const isThere = (directory: string) =>
  Effect.map(Effect.flatMap(LocalFiles, ({ find }) => find(directory)), Option.isSome)

/** Checks free disk space for archives, settings and the run history; ignores missing directories. */
export const checkDisk = Effect.gen(function*() {
  const path = yield* Path.Path
  const { file, get } = yield* Settings
  const directories = new Set([yield* get("projects.root"), path.dirname(file)])
  const existing = yield* Effect.filter(directories, isThere)
  // A fresh installation has neither directory yet, so the home directory is checked.
  const looked = existing.length === 0 ? [resolveHomeDirectory()] : existing
  return checkFreeDisk(
    yield* Effect.forEach(looked, (directory) => Effect.map(readFreeDisk(directory), (free) => ({ directory, free })))
  )
})

/**
 * Checks the projects directory. A missing default directory counts as not set up, like every part without a setting;
 * one that a setting names must exist.
 */
export const checkProjects = Effect.gen(function*() {
  const name = projectsFinding
  const { file, get, list } = yield* Settings
  const root = yield* get("projects.root")
  const found = yield* (yield* LocalFiles).find(root)
  if (Option.exists(found, ({ kind }) => kind === "directory")) return { name, ok: true, detail: root }
  const isDefault = (yield* list).every((each) => each.name !== "projects.root" || each.source === "default")
  const isMissing = Option.isNone(found)
  const fix = isMissing
    ? "Create it, or name another one: berth settings set projects.root DIRECTORY --create"
    : `Set projects.root in ${file} to a directory`
  const finding: Finding = {
    name,
    ok: false,
    detail: isMissing
      ? `${root} does not exist${isDefault ? " yet, and is where Berth looks for projects" : ""}`
      : `${root} is not a directory`,
    fix
  }
  return isDefault && isMissing ? { ...finding, setUp: false } : finding
})

/** Checks that runs can be recorded, by a write to their store. */
export const checkRuns = Effect.gen(function*() {
  const { bytes, store } = yield* (yield* Runs).checkStore
  return {
    name: "history of runs",
    ok: true,
    detail: `${store} can be written, and takes ${formatWholeMebibytes(bytes)}`
  }
})
