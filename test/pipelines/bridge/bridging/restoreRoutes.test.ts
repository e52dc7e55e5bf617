import { describe, expect, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Layer, Ref, TestClock } from "effect"
import { restoreRoutes } from "../../../../src/pipelines/bridge/bridging.ts"
import { proxyExit } from "../../../../src/remote/proxy.ts"
import { type RemoteExit, Ssh } from "../../../../src/services/ssh/Ssh.ts"
import { locksTest } from "../../../../src/testing/RunsTest.ts"
import { settingsTest, storedServer } from "../../../../src/testing/SettingsTest.ts"
import { proxyFileTest, ProxyFileText } from "../../../../src/testing/SshTest.ts"

const file = "/etc/proxy/dynamic.yml"
const server = storedServer({ host: "10.0.0.5" })

const textOf = (...ports: ReadonlyArray<number>) =>
  `# of the operator
http:
  routers: { app: { rule: "Host(\`app.lan\`)", service: app } }
  services:
    app:
      loadBalancer:
        servers:
${ports.map((port) => `          - url: http://10.0.0.5:${port}\n`).join("")}`

const before = textOf(8080)

interface Server {
  readonly text: string
  /** Seconds for which somebody else holds the proxy file. */
  readonly lockedFor?: number
  /** Seconds after which the service takes connections at its own port. */
  readonly upAfter?: number
  readonly noted?: string
}

const ended = (stdout = "", code = 0): RemoteExit => ({ code, stdout, stderr: "" })

/** Leads back from a noted bridge on port 30000; answers what came of it, and what is left. */
const ledBack = ({ lockedFor = 0, noted = file, text, upAfter = 0 }: Server) =>
  Effect.gen(function*() {
    const hasNote = yield* Ref.make(true)
    const note = `run\ta-run\nbridge\tweb\tberth-web-bridge-1\t8080\t30000\nproxy\t10.0.0.5:22\t10.0.0.5\t${noted}\n`
    const ssh = Layer.effect(
      Ssh,
      Effect.map(Ssh, (proxy) =>
        Ssh.of({
          ...proxy,
          exec: (at, command) =>
            Effect.gen(function*() {
              const now = yield* Clock.currentTimeMillis
              if (command.what === `reading ${file}` && now < lockedFor * 1_000) return ended("", proxyExit.busy)
              if (command.what === "reading the bridge's note") return ended((yield* Ref.get(hasNote)) ? note : "")
              if (command.what.startsWith("connecting to")) return ended("", now < upAfter * 1_000 ? 1 : 0)
              if (command.what === "removing the bridge") yield* Ref.set(hasNote, false)
              return yield* proxy.exec(at, command)
            })
        }))
    )
    const proxyFile = proxyFileTest(file, text)
    const world = Layer.mergeAll(
      locksTest,
      settingsTest({ "proxy.configFile": file, "proxy.settle": Duration.seconds(5) }, [server]),
      Layer.provideMerge(ssh, proxyFile)
    )
    return yield* Effect.gen(function*() {
      const leading = yield* Effect.fork(Effect.either(restoreRoutes({ server, remotePath: "~/app" }, "a-run")))
      yield* TestClock.adjust("10 minutes")
      const outcome = yield* Fiber.join(leading)
      return { outcome, isNoted: yield* Ref.get(hasNote), text: yield* yield* ProxyFileText }
    }).pipe(Effect.provide(world))
  })

describe("leading the requests back from a bridge", () => {
  it.effect.each([
    { title: "both serve", text: textOf(30000, 8080) },
    { title: "the bridge serves", text: textOf(30000) },
    { title: "both serve again", text: textOf(8080, 30000) },
    { title: "the service serves again", text: before },
    { title: "the service takes 8 s to listen again", text: textOf(30000), upAfter: 8 },
    { title: "somebody holds the file for 40 s", text: textOf(30000), lockedFor: 40 }
  ])("ends with the file as it was where $title", (world) =>
    Effect.gen(function*() {
      const { isNoted, outcome, text } = yield* ledBack(world)
      expect(outcome).toMatchObject({ _tag: "Right" })
      expect([text, isNoted]).toEqual([before, false])
    }))

  it.effect("keeps what somebody else has written meanwhile", () =>
    Effect.gen(function*() {
      const theirs = "    other: { loadBalancer: { servers: [{ url: http://10.0.0.9:1 }] } }\n"
      expect((yield* ledBack({ text: textOf(30000) + theirs })).text).toBe(before + theirs)
    }))

  it.effect.each([
    {
      title: "the file stays locked",
      text: textOf(30000),
      lockedFor: 3_600,
      reason: /somebody else has been editing it for 30 s/
    },
    { title: "the file is broken", text: "http: [", reason: /dynamic\.yml:1/ },
    {
      title: "nothing listens where the service was",
      text: textOf(30000),
      upAfter: 3_600,
      reason:
        /: port 8080 of 10\.0\.0\.5, seen from "Main", does not accept connections: the service web has left it\. The next deploy tries again$/
    },
    { title: "the settings name another file", text: textOf(30000), noted: "/etc/other.yml", reason: /other\.yml/ }
  ])("leaves the bridge to serve, and says why, where $title", ({ reason, ...world }) =>
    Effect.gen(function*() {
      const { isNoted, outcome, text } = yield* ledBack(world)
      expect(outcome).toMatchObject({ _tag: "Left", left: { _tag: "BridgeStays" } })
      expect(String(outcome._tag === "Left" && outcome.left.message)).toMatch(reason)
      expect([text, isNoted]).toEqual([world.text, true])
    }))
})
