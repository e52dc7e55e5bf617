import { FileSystem, Path } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, type Scope } from "effect"
import { tmpdir } from "node:os"

const prefix = "berth-sandbox-"
const ownerFile = ".owner"

/** Scoped temporary directory. A file in it names its process, for cleanup after a kill. */
export const ownedDirectory: Effect.Effect<
  string,
  PlatformError,
  FileSystem.FileSystem | Path.Path | Scope.Scope
> = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* files.makeTempDirectoryScoped({ prefix })
  yield* files.writeFileString(path.join(directory, ownerFile), String(process.pid), { mode: 0o600 })
  return directory
})

/** True if the process has ended; processes of other users count as alive. */
const hasEnded = (owner: string): boolean => {
  if (!/^\d{1,10}$/.test(owner)) return false
  try {
    process.kill(Number(owner), 0)
    return false
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "ESRCH"
  }
}

/** Removes directories of killed sandboxes, whose settings hold passwords. Failures are ignored. */
export const removeOrphans: Effect.Effect<void, never, FileSystem.FileSystem | Path.Path> = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = (yield* files.readDirectory(tmpdir())).filter((name) => name.startsWith(prefix))
  yield* Effect.forEach(names, (name) => {
    const directory = path.join(tmpdir(), name)
    return files.readFileString(path.join(directory, ownerFile)).pipe(
      Effect.flatMap((owner) => hasEnded(owner) ? files.remove(directory, { recursive: true }) : Effect.void),
      Effect.ignore
    )
  }, { concurrency: 8, discard: true })
}).pipe(Effect.ignore)
