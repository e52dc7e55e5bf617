import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { followProjects } from "../../../../src/pipelines/servers/logs.ts"
import { localFilesTest } from "../../../../src/testing/LocalFilesTest.ts"
import { settingsTest, storedServer } from "../../../../src/testing/SettingsTest.ts"
import { type SshReply, sshTest } from "../../../../src/testing/SshTest.ts"

const root = "/srv/projects"
const project = (name: string, serverId: string) => ({
  [`${root}/${name}/compose.yml`]: "services: {}\n",
  [`${root}/${name}/container.json`]: JSON.stringify({ serverId })
})
const log = (second: number, text: string) => `following\no|web|2026-01-02T03:04:0${second}.5Z ${text}\nlive\n`

/** Follows two projects, of which `slow` answers as told; `seen` grows with the events. */
const followed = (answer: Effect.Effect<SshReply>, names: ReadonlyArray<string> = ["quick", "slow"]) =>
  Effect.gen(function*() {
    const seen: Array<string> = []
    const world = sshTest({
      "following the logs of ~/containers/quick": { stdout: log(2, "quick"), stays: true },
      "following the logs of ~/containers/gone": { stdout: "none\n" },
      "following the logs of ~/containers/slow": answer
    }).pipe(
      Layer.provideMerge(localFilesTest({
        [root]: { directory: true },
        ...project("quick", "1"),
        ...project("gone", "1"),
        ...project("slow", "2")
      })),
      Layer.provideMerge(Path.layer),
      Layer.provideMerge(
        settingsTest({ "projects.root": root }, [
          storedServer({ id: "1", name: "Main" }),
          storedServer({ id: "2", name: "Attic", host: "attic.test" })
        ])
      )
    )
    const reading = yield* followProjects(names, {}).pipe(
      Effect.flatMap(Stream.runForEach((event) =>
        Effect.sync(() => {
          seen.push(event.event === "line" ? event.data.text : JSON.stringify(event.data))
        })
      )),
      Effect.scoped,
      Effect.provide(world),
      Effect.fork
    )
    return { reading, seen }
  })

describe("the logs of several projects", () => {
  it.effect("are in the order of their times where their servers answer", () =>
    Effect.gen(function*() {
      const { seen } = yield* followed(Effect.succeed({ stdout: log(1, "slow"), stays: true }))
      yield* TestClock.adjust("10 millis")
      expect(seen).toEqual(["slow", "quick"])
    }))

  it.effect("flow while one server hangs, whose lines come once it answers", () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<SshReply>()
      const { seen } = yield* followed(Deferred.await(answer))
      yield* TestClock.adjust("3 seconds")
      expect(seen).toEqual(["quick"])
      yield* Deferred.succeed(answer, { stdout: log(1, "slow"), stays: true })
      yield* TestClock.adjust("10 millis")
      expect(seen).toEqual(["quick", "slow"])
    }))

  it.effect("fail only where none of them can be followed", () =>
    Effect.gen(function*() {
      const hanging = yield* followed(Effect.never)
      yield* TestClock.adjust("2 minutes")
      expect(hanging.seen[0]).toBe("quick")
      const { reading, seen } = yield* followed(Effect.succeed({ stdout: "none\n" }), ["gone", "slow"])
      yield* TestClock.adjust("10 millis")
      expect(yield* Effect.flip(Fiber.join(reading))).toMatchObject({ _tag: "NothingToFollow" })
      expect(seen).toEqual([])
    }))
})
