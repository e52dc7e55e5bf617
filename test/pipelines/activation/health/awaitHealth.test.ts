import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect, FastCheck, Fiber, Schema, TestClock } from "effect"
import { awaitHealth } from "../../../../src/pipelines/activation/health.ts"
import { parseInspect } from "../../../../src/remote/stack.ts"
import type { ServerAccess } from "../../../../src/schema/ssh.ts"
import { SshAsked, sshTest } from "../../../../src/testing/SshTest.ts"

const main: ServerAccess = {
  id: "1",
  name: "Main",
  host: "main.test",
  port: 22,
  username: "deployer",
  useSudo: false,
  credentials: {}
}
const services = [{ name: "web", runs: true }]
const options = { timeout: Duration.seconds(9), interval: Duration.seconds(1) }

/** One look at a container; `up` says for how many milliseconds it has run. */
const Look = Schema.Struct({
  status: Schema.Literal("running", "restarting"),
  restarts: Schema.Int.pipe(Schema.between(1, 40)),
  up: Schema.Int.pipe(Schema.between(0, 8_000)),
  exitCode: Schema.Int.pipe(Schema.between(1, 255))
})
type Look = typeof Look.Type

// Docker forgets the exit code of what runs again.
const printed = ({ exitCode, restarts, status, up }: Look) => {
  const now = Date.parse("2026-01-01T00:01:00.000Z")
  const state = {
    Status: status,
    ExitCode: status === "running" ? 0 : exitCode,
    StartedAt: new Date(now - up).toISOString()
  }
  return `now\t2026-01-01T00:01:00.000000000Z\ncontainer\tc1|/web-1|web|always|${restarts}|${JSON.stringify(state)}\n`
}

const awaited = (looks: ReadonlyArray<Look>, exits = "") =>
  Effect.gen(function*() {
    const [first, ...others] = looks.map(printed)
    const last = others.at(-1) ?? first ?? ""
    const waiting = yield* Effect.fork(awaitHealth(main, services, parseInspect(first ?? ""), options))
    yield* TestClock.adjust("20 seconds")
    const health = yield* Fiber.join(waiting)
    const asked = (yield* yield* SshAsked).map(({ what }) => what)
    return { health, last, asked }
  }).pipe(Effect.provide(sshTest({
    "looking at the containers": looks.length === 1
      ? [{ stdout: looks.map(printed).join("") }]
      : looks.slice(1).map((look) => ({ stdout: printed(look) })),
    "asking for exit codes": { stdout: exits }
  })))

const crashes = FastCheck.array(Arbitrary.make(Look), { minLength: 2, maxLength: 9 }).map((looks) => {
  const counts = looks.map(({ restarts }) => restarts).sort((one, other) => one - other)
  return looks.map((look, index) => ({ ...look, restarts: counts[index] ?? 1 }))
})

describe("a crash loop", () => {
  it.effect.prop(
    "is told with its restarts and last exit code, whatever the last look shows",
    { looks: crashes },
    ({ looks }) =>
      Effect.gen(function*() {
        const { asked, health } = yield* awaited(looks, "c1 77\n")
        const restarts = Math.max(...looks.map((look) => look.restarts))
        const lastExit = looks.findLast(({ status }) => status === "restarting")?.exitCode ?? 77
        expect(health.status).toBe("unhealthy")
        expect(health.complaints).toBe(
          `web-1 is unhealthy (${restarts} restart${restarts === 1 ? "" : "s"}, last exit code ${lastExit})`
        )
        expect(health.unhealthy).toMatchObject([{ id: "c1", restarts, lastExit }])
        expect(asked.includes("asking for exit codes")).toBe(looks.every(({ status }) => status === "running"))
      }).pipe(Effect.scoped),
    { fastCheck: { numRuns: 30 } }
  )

  it.scoped("is told without an exit code where nobody knows it", () =>
    Effect.gen(function*() {
      const look = { status: "running", restarts: 1, up: 10, exitCode: 1 } as const
      const { health } = yield* awaited([look, look], "Error: no events")
      expect(health.complaints).toBe("web-1 is unhealthy (1 restart)")
    }))

  it.scoped("that ended is healthy once the container has stayed up for 10 seconds", () =>
    Effect.gen(function*() {
      const look = { status: "running", restarts: 3, exitCode: 1 } as const
      const { asked, health } = yield* awaited([{ ...look, up: 9_000 }, { ...look, up: 10_000 }])
      expect(health).toMatchObject({ status: "healthy", complaints: "", unhealthy: [] })
      expect(asked).toEqual(["looking at the containers"])
    }))
})
