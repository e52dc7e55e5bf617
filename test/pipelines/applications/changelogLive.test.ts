import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { appendChangelog } from "../../../src/pipelines/applications/changelog.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { LocksLive } from "../../../src/services/locks/Locks.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const local = Layer.provideMerge(LocalFilesLive, NodeContext.layer)

// Locks that know nothing of each other but what is on the disk are those of as many processes.
it.scopedLive.each([["one Berth appends", 1, 24], ["several Berths append", 4, 6]] as const)(
  "a changelog loses nothing when %s many entries at once",
  ([, berths, entries]) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const names = Array.from(
        { length: berths },
        (_, berth) => Array.from({ length: entries }, (_, index) => `app${berth}-${index}`)
      )
      yield* Effect.forEach(names, (mine) =>
        Effect.forEach(mine, (appName) =>
          appendChangelog(directory, {
            timestamp: "2026-01-02T03:04:05.678Z",
            action: "update",
            appName,
            uuid: "app-1",
            changes: [],
            configSnapshot: { name: appName }
          }), { concurrency: "unbounded" }).pipe(Effect.provide(Layer.fresh(LocksLive))), { concurrency: "unbounded" })
        .pipe(Effect.provide(local))
      const text = yield* Effect.promise(() => readFile(join(directory, "platform.changelog.json"), "utf8"))
      const written: ReadonlyArray<{ readonly appName: string }> = JSON.parse(text)
      expect(written.map(({ appName }) => appName).sort()).toEqual(names.flat().sort())
      expect(yield* Effect.promise(() => readdir(directory))).toEqual(["platform.changelog.json"])
    })
)
