import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Layer, Scope, TestClock } from "effect"
import { makeChanges, observeChanges } from "../../../../src/pipelines/overview/needsCare.ts"
import type { KnownProject } from "../../../../src/pipelines/overview/projects.ts"
import type { ServerObservation } from "../../../../src/pipelines/overview/servers.ts"
import { localFilesTest, localProcessesTest } from "../../../../src/testing/LocalFilesTest.ts"
import { platformTest } from "../../../../src/testing/PlatformTest.ts"
import { settingsTest, storedServer } from "../../../../src/testing/SettingsTest.ts"
import { SshAsked, type SshReply, sshTest } from "../../../../src/testing/SshTest.ts"

const root = "/srv/projects"
const observedAt = "2026-01-02T03:04:05.678Z"
const sight = (release: string | null): ServerObservation => ({
  server: { id: "1", name: "Main", answers: true, latencyMs: 4, disks: [], observedAt },
  stackAt: () => ({ statuses: [], names: [], ports: [], release })
})
const project = (name: string): KnownProject => ({
  name,
  path: `${root}/${name}`,
  hasImageFile: false,
  hasComposeFile: true,
  hasPlatformJson: false,
  containerStatus: "partial",
  tarFile: null,
  serverId: "1",
  remotePath: `~/containers/${name}`,
  problems: [],
  declared: Either.right([]),
  observedAt
})
const world = (names: ReadonlyArray<string>, answer: SshReply | Effect.Effect<SshReply> = { stdout: "" }) =>
  Layer.mergeAll(
    localProcessesTest({}),
    localFilesTest({
      [root]: { directory: true },
      ...Object.fromEntries(names.flatMap((name) => [
        [`${root}/${name}/compose.yml`, "services:\n  web:\n    image: web:1\n"],
        [`${root}/${name}/.env`, "A=1\n"]
      ]))
    }),
    Path.layer,
    platformTest(),
    sshTest({ "looking at the server before the deploy": answer })
  ).pipe(Layer.provideMerge(settingsTest({ "projects.root": root }, [storedServer({ id: "1", name: "Main" })])))

const nobody = () => false
const plans = Effect.map(
  Effect.flatten(SshAsked),
  (asked) => asked.filter(({ what }) => what === "looking at the server before the deploy").length
)

describe("the number of changes of a project", () => {
  it.scoped("is that of the plan of its deploy: its files and images", () =>
    Effect.gen(function*() {
      const changes = yield* makeChanges
      const counts = yield* observeChanges([project("web")], [sight(null)], nobody, 60_000, changes)
      // compose.yml, .env and the image that the server lacks.
      expect([...counts]).toEqual([[`${root}/web`, 3]])
    }).pipe(Effect.provide(world(["web"]))))

  it.scoped("is counted again after 25 seconds, or once the release changes, and never while a run is under way", () =>
    Effect.gen(function*() {
      const changes = yield* makeChanges
      const look = (release: string | null, isBusy = false) =>
        observeChanges([project("web")], [sight(release)], () => isBusy, 1_000_000, changes)
      yield* look(null)
      yield* TestClock.adjust("10 seconds")
      yield* look(null)
      expect(yield* plans).toBe(1)
      expect([...yield* look("r1", true)]).toEqual([[`${root}/web`, 3]])
      expect(yield* plans).toBe(1)
      yield* look("r1")
      expect(yield* plans).toBe(2)
      yield* TestClock.adjust("25 seconds")
      yield* look("r1")
      expect(yield* plans).toBe(3)
    }).pipe(Effect.provide(world(["web"]))))

  it.scoped("is missing where a server hangs or does not answer, or the project cannot be planned", () =>
    Effect.gen(function*() {
      const changes = yield* makeChanges
      const silent: ServerObservation = { ...sight(null), stackAt: undefined }
      expect((yield* observeChanges([project("web")], [silent], nobody, 60_000, changes)).size).toBe(0)
      const unset = [{ ...project("web"), serverId: null }, { ...project("web"), hasComposeFile: false }]
      expect((yield* observeChanges(unset, [sight(null)], nobody, 60_000, changes)).size).toBe(0)
      const hanging = yield* Effect.fork(observeChanges([project("web")], [sight(null)], nobody, 60_000, changes))
      yield* TestClock.adjust("60 seconds")
      expect((yield* Fiber.join(hanging)).size).toBe(0)
      const gone = yield* observeChanges([project("gone")], [sight(null)], nobody, 120_000, changes)
      expect([...gone]).toEqual([[`${root}/gone`, null]])
    }).pipe(Effect.provide(world(["web"], Effect.never))))

  it.scoped("is counted to the end, once, even if whoever asked leaves", () =>
    Effect.gen(function*() {
      const released = yield* Deferred.make<SshReply>()
      yield* Effect.gen(function*() {
        const changes = yield* makeChanges
        const look = observeChanges([project("web")], [sight(null)], nobody, 1_000_000, changes)
        const first = yield* Effect.fork(look)
        yield* TestClock.adjust("10 millis")
        yield* Fiber.interrupt(first)
        const second = yield* Effect.fork(look)
        yield* TestClock.adjust("1 minute")
        expect((yield* Fiber.join(second)).size).toBe(0)
        expect(yield* plans).toBe(1)
        yield* Deferred.succeed(released, { stdout: "" })
        yield* TestClock.adjust("10 millis")
        expect([...yield* look]).toEqual([[`${root}/web`, 3]])
        expect(yield* plans).toBe(1)
      }).pipe(Effect.provide(world(["web"], Deferred.await(released))))
    }))

  it.scoped("is given up after two minutes, and with the service", () =>
    Effect.gen(function*() {
      const released = yield* Deferred.make<SshReply>()
      const interrupted = yield* Deferred.make<void>()
      const answer = Effect.onInterrupt(Deferred.await(released), () => Deferred.succeed(interrupted, undefined))
      yield* Effect.gen(function*() {
        const scope = yield* Scope.make()
        const changes = yield* Scope.extend(makeChanges, scope)
        const look = observeChanges([project("web")], [sight(null)], nobody, 60_000, changes)
        const late = yield* Effect.fork(look)
        yield* TestClock.adjust("2 minutes")
        expect((yield* Fiber.join(late)).size).toBe(0)
        expect(yield* Deferred.isDone(interrupted)).toBe(true)
        const again = { ...project("web"), remotePath: "~/containers/other" }
        yield* Effect.fork(observeChanges([again], [sight(null)], nobody, 1_000_000, changes))
        yield* TestClock.adjust("10 millis")
        expect(yield* plans).toBe(2)
        yield* Scope.close(scope, Exit.void)
        yield* Deferred.succeed(released, { stdout: "" })
        yield* TestClock.adjust("10 millis")
        expect((yield* observeChanges([again], [sight(null)], () => true, 1_000_000, changes)).size).toBe(1)
      }).pipe(Effect.provide(world(["web"], answer)))
    }))

  it.scoped("is counted for 24 projects a look, the others next", () =>
    Effect.gen(function*() {
      const changes = yield* makeChanges
      const all = Array.from({ length: 30 }, (_, index) => project(`web-${index}`))
      const look = observeChanges(all, [sight(null)], nobody, 60_000, changes)
      expect((yield* look).size).toBe(24)
      expect((yield* look).size).toBe(30)
    }).pipe(Effect.provide(world(Array.from({ length: 30 }, (_, index) => `web-${index}`)))))
})
