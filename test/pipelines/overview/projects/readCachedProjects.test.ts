import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Either, Fiber, Layer, Ref, TestClock } from "effect"
import { makeKnown, readCachedProjects } from "../../../../src/pipelines/overview/projects.ts"
import { LocalFiles } from "../../../../src/services/local/LocalFiles.ts"
import { localFilesTest, type LocalFixture } from "../../../../src/testing/LocalFilesTest.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"

const root = "/srv/projects"
const many = 150

const project = (name: string, more: Readonly<Record<string, LocalFixture>> = {}) => ({
  [`${root}/${name}/Dockerfile`]: "FROM scratch",
  [`${root}/${name}/compose.yml`]: "services: {}",
  [`${root}/${name}/readme.txt`]: "Hello",
  [`${root}/${name}/container.json`]: JSON.stringify({ serverId: "1" }),
  [`${root}/${name}/platform.json`]: JSON.stringify({ name }),
  ...more
})

type Calls = Readonly<Record<"names" | "find" | "realPath" | "read", number>>
const none: Calls = { names: 0, find: 0, realPath: 0, read: 0 }
class Counted extends Context.Tag("berth/test/Counted")<Counted, Ref.Ref<Calls>>() {}

/** Files whose looks are counted; `find` may take its time. */
const counting = (files: Readonly<Record<string, LocalFixture>>, wait: Effect.Effect<void> = Effect.void) =>
  Layer.effect(
    LocalFiles,
    Effect.gen(function*() {
      const inner = yield* LocalFiles
      const calls = yield* Counted
      const count = (kind: keyof Calls) => Ref.update(calls, (all) => ({ ...all, [kind]: all[kind] + 1 }))
      return LocalFiles.of({
        ...inner,
        names: (path) => Effect.zipRight(count("names"), inner.names(path)),
        find: (path) => Effect.zipRight(Effect.zipRight(count("find"), wait), inner.find(path)),
        realPath: (path) => Effect.zipRight(count("realPath"), inner.realPath(path)),
        read: (path) => Effect.zipRight(count("read"), inner.read(path))
      })
    })
  ).pipe(Layer.provide(localFilesTest({ [root]: { directory: true }, ...files })))

const world = (files: Readonly<Record<string, LocalFixture>>, wait?: Effect.Effect<void>) =>
  Layer.mergeAll(counting(files, wait), Path.layer, settingsTest({ "projects.root": root })).pipe(
    Layer.provideMerge(Layer.effect(Counted, Ref.make(none)))
  )
const counted = Effect.flatMap(Counted, (calls) => Ref.getAndSet(calls, none))
const inAll = { at: Number.POSITIVE_INFINITY, millis: 1_500 }

// The files of the tests are written within the first hours of 1970.
const later = TestClock.setTime(1_000_000_000)

describe("the projects of an overview", () => {
  it.effect("are looked at with few calls, and read again only where they have changed", () =>
    Effect.gen(function*() {
      yield* later
      const known = yield* makeKnown
      const first = yield* readCachedProjects(known, inAll)
      expect(first.errors).toEqual([])
      expect(first.projects.length).toBe(many)
      // Its two configuration files and its compose file are looked at and read; the root is looked at once.
      expect(yield* counted).toEqual({ names: many + 1, find: 3 * many + 1, realPath: 0, read: 3 * many })

      yield* TestClock.adjust("1 minute")
      const second = yield* readCachedProjects(known, inAll)
      expect(yield* counted).toEqual({ names: many + 1, find: 3 * many + 1, realPath: 0, read: 0 })
      const [before] = first.projects
      expect(second.projects[0]).toEqual({ ...before, observedAt: new Date(1_000_060_000).toISOString() })
      expect(before).toMatchObject({ name: "p000", serverId: "1", hasImageFile: true, hasPlatformJson: true })

      const files = yield* LocalFiles
      yield* files.write(`${root}/p007/platform.json`, JSON.stringify([{ name: "other" }]))
      yield* counted
      const third = yield* readCachedProjects(known, inAll)
      expect((yield* counted).read).toBe(3)
      const names = third.projects[7]?.declared.pipe(
        Either.map((apps) => apps.map(({ declared }) => declared.entry.name))
      )
      expect(names).toEqual(Either.right(["other"]))
    }).pipe(Effect.provide(world(
      Object.assign({}, ...Array.from({ length: many }, (_, index) => project(`p${String(index).padStart(3, "0")}`)))
    ))))

  it.effect("are read again as long as they were written just now, and where a link leads somewhere", () =>
    Effect.gen(function*() {
      const known = yield* makeKnown
      yield* readCachedProjects(known, inAll)
      yield* counted
      yield* readCachedProjects(known, inAll)
      expect((yield* counted).read).toBe(5)
      yield* later
      yield* readCachedProjects(known, inAll)
      yield* counted
      yield* readCachedProjects(known, inAll)
      expect((yield* counted).read).toBe(2)
    }).pipe(Effect.provide(world({
      ...project("plain"),
      ...project("linked", { [`${root}/linked/compose.yaml`]: { link: "compose.yml" } })
    }))))

  it.effect("are shown as far as there was time, and the others as they were", () =>
    Effect.gen(function*() {
      yield* later
      const known = yield* makeKnown
      const slow = yield* Effect.fork(readCachedProjects(known, inAll))
      yield* TestClock.adjust("1500 millis")
      const { errors, projects } = yield* Fiber.join(slow)
      expect(projects.length).toBeGreaterThan(0)
      expect(projects.length).toBeLessThan(100)
      expect(errors).toEqual([
        `Only ${projects.length} of 100 directories of projects were looked at: no answer within 1.1 s`
      ])
      // Cached projects are not read again, so the next overview gets further.
      const next = yield* Effect.fork(readCachedProjects(known, { ...inAll, millis: 5_000 }))
      yield* TestClock.adjust("5 seconds")
      expect((yield* Fiber.join(next)).projects.length).toBe(100)
      const again = yield* Effect.fork(readCachedProjects(known, { ...inAll, millis: 401 }))
      yield* TestClock.adjust("401 millis")
      const stale = yield* Fiber.join(again)
      expect(stale.errors).toEqual([expect.stringMatching(/^Only 0 of 100 directories/)])
      expect(stale.projects.length).toBe(100)
      expect(new Set(stale.projects.map(({ observedAt }) => Date.parse(observedAt) < 1_000_006_500))).toEqual(
        new Set([true])
      )
      const late = yield* Effect.fork(readCachedProjects(known, { ...inAll, millis: 1 }))
      yield* TestClock.adjust("1 millis")
      expect((yield* Fiber.join(late)).errors).toEqual([expect.stringContaining("The projects are not known")])
    }).pipe(Effect.provide(world(
      Object.assign({}, ...Array.from({ length: 100 }, (_, index) => project(`p${index}`))),
      Effect.sleep("400 millis")
    ))))
})
