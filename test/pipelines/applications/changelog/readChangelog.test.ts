import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { readChangelog } from "../../../../src/pipelines/applications/changelog.ts"
import { CurrentCaller } from "../../../../src/services/access/Caller.ts"
import { localFilesTest, type LocalFixture } from "../../../../src/testing/LocalFilesTest.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"

const projectPath = "/srv/shop"
const file = `${projectPath}/platform.changelog.json`
const entry = (appName: string, index: number) => ({
  timestamp: `2026-01-02T03:04:${String(index).padStart(2, "0")}.000Z`,
  action: "update",
  appName,
  uuid: "app-1",
  changes: [{ field: "branch", label: "Branch", old: "a", new: "token-of-the-platform" }],
  configSnapshot: { name: appName, note: "token-of-the-platform" }
})
const within = (content?: LocalFixture) =>
  Effect.provide(
    Layer.mergeAll(
      localFilesTest({ [projectPath]: { directory: true }, ...content === undefined ? {} : { [file]: content } }),
      settingsTest({ "platform.token": Redacted.make("token-of-the-platform"), "projects.root": "/srv" }),
      Path.layer
    )
  )
const many = JSON.stringify([
  ...Array.from({ length: 25 }, (_, index) => entry(index % 5 === 0 ? "shop" : "cart", index)),
  { appName: "shop" },
  7
])

describe("the changelog", () => {
  it.effect("is told newest first, page by page, without what is no entry", () =>
    Effect.gen(function*() {
      const first = yield* readChangelog({ projectPath })
      expect(first.entries.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => 25 - index))
      expect(first).toMatchObject({ next: "6", unreadable: 2 })
      const rest = yield* readChangelog({ projectPath, before: 6 })
      expect(rest.entries.map(({ number }) => number)).toEqual([5, 4, 3, 2, 1])
      expect(rest.next).toBeNull()
    }).pipe(within(many)))

  it.effect("has no value of a field without a meaning for a viewer", () =>
    Effect.gen(function*() {
      const read = readChangelog({ projectPath, limit: 1 })
      const [seen] = (yield* Effect.provideService(read, CurrentCaller, { name: "Vic", role: "viewer" })).entries
      expect(seen?.configSnapshot).toEqual({ name: "cart", note: "***" })
    }).pipe(within(many)))

  it.effect("can be that of one application, and of so many entries", () =>
    Effect.gen(function*() {
      const page = yield* readChangelog({ projectPath, appName: "shop", limit: 2 })
      expect(page.entries.map(({ appName, number }) => [appName, number])).toEqual([["shop", 21], ["shop", 16]])
      expect(page.next).toBe("16")
      const exact = yield* readChangelog({ projectPath, appName: "shop", limit: 5 })
      expect(exact.next).toBeNull()
    }).pipe(within(many)))

  it.effect("shows no secret of the settings", () =>
    Effect.gen(function*() {
      const page = yield* readChangelog({ projectPath, limit: 1 })
      expect(JSON.stringify(page)).not.toContain("token-of-the-platform")
    }).pipe(within(many)))

  it.effect("is empty without a file", () =>
    Effect.gen(function*() {
      expect(yield* readChangelog({ projectPath })).toEqual({ entries: [], next: null, unreadable: 0 })
    }).pipe(within()))

  it.effect.each([
    ["{}", ":1:1 must be an array"],
    ["[1,\n 2 3]", ":2:4 is not valid JSON: a comma is expected here"],
    ["\"[]\"", ":1:1 must be an array"]
  ])("that is %s is refused by its name and place", ([text, words]) =>
    Effect.gen(function*() {
      const refusal = yield* Effect.flip(readChangelog({ projectPath }))
      expect(refusal.status).toBe(422)
      expect(refusal.message).toBe(`${file}${words}`)
    }).pipe(within(text)))

  it.effect("of a directory that is not there is refused", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(readChangelog({ projectPath: "/srv/none" }))).toMatchObject({ status: 400 })
    }).pipe(within()))
})
