import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { LocalFiles, LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"

it.scoped.skipIf(process.platform === "win32")(
  "a pipe is refused, without waiting for somebody to write to it",
  () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const files = yield* LocalFiles
      const pipe = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped({ prefix: "berth-pipes-" }), "pipe")
      execFileSync("mkfifo", [pipe])
      const attempts = [
        files.read(pipe),
        files.sha256(pipe),
        Stream.runDrain(files.stream(pipe)),
        Stream.runDrain(files.lend(pipe))
      ]
      for (const attempt of attempts) {
        expect((yield* Effect.flip(Effect.asVoid<unknown, { readonly message: string }, never>(attempt))).message)
          .toBe(`${pipe}: is not a regular file`)
      }
      // More of them at once than there are threads for files.
      yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.flip(files.read(pipe)), {
        concurrency: "unbounded"
      })
      yield* fs.writeFileString(`${pipe}.txt`, "still read")
      expect(new TextDecoder().decode(yield* files.read(`${pipe}.txt`))).toBe("still read")
      expect(yield* files.names(pipe.replace(/\/pipe$/, ""))).toEqual([
        { name: "pipe", kind: "other" },
        { name: "pipe.txt", kind: "file" }
      ])
    }).pipe(Effect.provide(Layer.provideMerge(LocalFilesLive, NodeContext.layer)))
)
