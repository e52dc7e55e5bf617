import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { LocalFiles } from "../../src/services/local/LocalFiles.ts"
import { localFilesTest, localText } from "../../src/testing/LocalFilesTest.ts"

describe("localFilesTest", () => {
  it.effect("behaves like the file system where pipelines look", () =>
    Effect.gen(function*() {
      const files = yield* LocalFiles
      expect((yield* files.list("/projects/app")).map(({ kind, name }) => [name, kind])).toEqual([
        ["compose.yml", "file"],
        ["data", "directory"],
        ["shared", "link"]
      ])
      expect(Option.getOrThrow(yield* files.find("/projects/app/shared/x"))).toMatchObject({ kind: "file", size: 3 })
      expect(yield* files.realPath("/projects/app/shared/x")).toBe("/elsewhere/x")
      expect(yield* files.find("/projects/none")).toEqual(Option.none())
      expect((yield* Effect.flip(files.read("/projects/none"))).reason).toBe("no such file or directory")
      expect(yield* files.create("/projects/app/compose.yml", "no")).toBe(false)
      expect(yield* files.create("/projects/app/new", "yes")).toBe(true)
      expect((yield* Effect.flip(files.write("/projects/b/c", "x"))).path).toBe("/projects/b/c")
      yield* files.write("/projects/app/shared/x", "three")
      expect(yield* localText("/elsewhere/x")).toBe("three")
      expect(yield* files.save("/projects/app/shared", Stream.make(new Uint8Array([65])))).toBe(1)
      expect(yield* localText("/projects/app/shared")).toBe("A")
      expect(yield* localText("/projects/app/new")).toBe("yes")
      yield* files.remove("/projects/app")
      expect(yield* files.list("/projects")).toEqual([])
    }).pipe(Effect.provide(localFilesTest({
      "/projects/app/compose.yml": "services: {}",
      "/projects/app/data": { directory: true },
      "/projects/app/shared": { link: "/elsewhere" },
      "/elsewhere/x": "one"
    }))))

  it.effect("starts anew for each program", () =>
    Effect.gen(function*() {
      expect(yield* (yield* LocalFiles).find("/projects")).toEqual(Option.none())
    }).pipe(Effect.provide(localFilesTest())))
})
