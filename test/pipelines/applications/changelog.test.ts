import { Path } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { expect } from "vitest"
import { appendChangelog } from "../../../src/pipelines/applications/changelog.ts"
import type { ChangelogEntry } from "../../../src/schema/upsert.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { localFilesTest, type LocalFixture, localText } from "../../../src/testing/LocalFilesTest.ts"
import { locksTest } from "../../../src/testing/RunsTest.ts"

const file = "/srv/shop/platform.changelog.json"
const entry = (appName: string): ChangelogEntry => ({
  timestamp: "2026-01-02T03:04:05.678Z",
  action: "update",
  appName,
  uuid: "app-1",
  changes: [],
  configSnapshot: { name: appName }
})
const within = (content?: LocalFixture, more: Readonly<Record<string, LocalFixture>> = {}) =>
  Effect.provide(
    Layer.mergeAll(
      localFilesTest({
        "/srv/shop": { directory: true },
        ...(content === undefined ? {} : { [file]: content }),
        ...more
      }),
      locksTest,
      Path.layer
    )
  )
const written = Effect.map(localText(file), (text): unknown => JSON.parse(text))

describe("appendChangelog", () => {
  it.effect("starts a file", () =>
    Effect.gen(function*() {
      yield* appendChangelog("/srv/shop", entry("a"))
      expect(yield* localText(file)).toMatch(/^\[\n {2}\{\n {4}"timestamp"[^]*\n\]\n$/)
      expect(yield* written).toEqual([entry("a")])
    }).pipe(within()))

  it.effect("keeps what others wrote into it, whatever it is", () =>
    Effect.gen(function*() {
      yield* appendChangelog("/srv/shop", entry("b"))
      expect(yield* written).toEqual([{ by: "hand" }, 3, entry("b")])
    }).pipe(within("\uFEFF[{\"by\":\"hand\"}, 3]")))

  it.effect.each(["", " \n"])(
    "starts anew where there is only %j, and keeps no copy of it",
    (content) =>
      Effect.gen(function*() {
        yield* appendChangelog("/srv/shop", entry("a"))
        expect(yield* written).toEqual([entry("a")])
        expect(Option.isNone(yield* (yield* LocalFiles).find(`${file}.corrupt`))).toBe(true)
      }).pipe(within(content))
  )

  it.effect.each(["[{\"timestamp\":", "{\"not\":\"a list\"}", "null", "hello"])(
    "keeps %j as .corrupt",
    (content) =>
      Effect.gen(function*() {
        yield* appendChangelog("/srv/shop", entry("a"))
        expect(yield* written).toEqual([entry("a")])
        expect(yield* localText(`${file}.corrupt`)).toBe(content)
      }).pipe(within(content))
  )

  it.effect("keeps the bytes of what is no text", () =>
    Effect.gen(function*() {
      yield* appendChangelog("/srv/shop", entry("a"))
      expect(yield* (yield* LocalFiles).read(`${file}.corrupt`)).toEqual(new Uint8Array([0xff, 0x00, 0x5b]))
    }).pipe(within(new Uint8Array([0xff, 0x00, 0x5b]))))

  it.effect("never writes over an earlier .corrupt", () =>
    Effect.gen(function*() {
      yield* appendChangelog("/srv/shop", entry("a"))
      expect(yield* localText(`${file}.corrupt`)).toBe("earlier")
      expect(yield* localText(`${file}.corrupt-2`)).toBe("oops")
    }).pipe(within("oops", { [`${file}.corrupt`]: "earlier" })))

  it.effect("loses nothing when many append at once", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 30 }, (_, index) => `app${index}`)
      yield* Effect.forEach(names, (name) => appendChangelog("/srv/shop", entry(name)), { concurrency: "unbounded" })
      expect(yield* written).toHaveLength(30)
    }).pipe(within()))
})
