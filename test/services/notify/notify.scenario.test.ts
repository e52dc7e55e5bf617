import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { createHmac } from "node:crypto"
import { chmodSync } from "node:fs"
import { join } from "node:path"
import { startBerth } from "../../fixtures/berthProcess.ts"
import { freePort } from "../../fixtures/network/freePort.ts"
import { type Received, startReceiver } from "../../fixtures/network/receiver.ts"
import { patience } from "../../fixtures/patience.ts"
import { runCli } from "../../fixtures/programs/cli.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"
import { requestTo } from "../../sandbox/request.ts"

const script = "#!/bin/sh\necho made > shop.tar\n"

/** A project with a build script, and settings that tell a port about the end of its runs. */
const stage = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const port = yield* freePort
  const project = join(directory, "projects", "shop")
  yield* plant(directory, {
    "projects/shop/build-image-tar.sh": script,
    "projects/broken/build-image-tar.sh": "#!/bin/sh\nexit 3\n",
    "berth.yaml": `projects: { root: ${join(directory, "projects")} }
notify:
  - { name: own, url: "http://127.0.0.1:${port}/hook", events: [failed, succeeded], format: json, secret: hush-hush }
  - { name: failures, url: "http://127.0.0.1:${port}/slack", events: [failed], format: slack }
`
  })
  const file = join(directory, "berth.yaml")
  yield* Effect.sync(() => chmodSync(file, 0o600))
  return { directory, file, port, project }
})

const arrives = (received: ReadonlyArray<Received>, count: number) =>
  Effect.sync(() => received.length).pipe(
    Effect.filterOrFail((length) => length >= count, (length) => new Error(`${length} of ${count} arrived`)),
    Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo("90 seconds")))
  )

describe("notifications", () => {
  it.scopedLive("outlive a killed service while their receiver is away", () =>
    Effect.gen(function*() {
      const { file, port, project } = yield* stage
      const first = yield* startBerth(file)
      const built = yield* requestTo(first.url, { "content-type": "application/json" })(
        "POST",
        "/api/container/build",
        { projectPath: project }
      )
      expect(built).toMatchObject({ status: 200, body: { success: true } })
      // It tried at least once, and nobody was there.
      yield* Effect.sync(first.output).pipe(
        Effect.repeat({
          until: (output) => output.includes("own was not told"),
          schedule: Schedule.spaced("50 millis")
        }),
        Effect.timeout("30 seconds")
      )
      expect(first.output()).not.toMatch(/hook|hush/)
      yield* first.kill("SIGKILL")
      yield* first.ended

      const received = yield* startReceiver(port, [503])
      yield* startBerth(file)
      yield* arrives(received, 2)
      const [refused, taken] = received
      const body = String(taken?.body)
      expect(refused?.body).toBe(body)
      expect(JSON.parse(body)).toMatchObject({
        event: "succeeded",
        title: "Build of shop succeeded",
        run: { kind: "build", state: "succeeded", subject: { projectPath: project } }
      })
      const [, time = "", mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(taken?.headers["berth-signature"])) ?? []
      expect(createHmac("sha256", "hush-hush").update(`${time}.${body}`).digest("hex")).toBe(mac)
    }), 300_000 * patience)

  it.scopedLive("of a command are sent before it ends, and tests say what came of them", () =>
    Effect.gen(function*() {
      const { directory, file, port } = yield* stage
      const received = yield* startReceiver(port)
      const cli = (...args: ReadonlyArray<string>) => runCli({ settingsFile: file }, args)
      const built = yield* cli("build", join(directory, "projects", "broken"))
      expect(built.code).toBe(1)
      // One target in JSON, the other one in the words of Slack.
      expect(received.map(({ body }) => JSON.parse(body).mrkdwn).toSorted()).toEqual([false, undefined])
      for (const { body } of received) expect(body).toContain("Build of broken failed")

      expect(yield* cli("notify", "test", "own")).toMatchObject({ code: 0 })
      expect(received.at(-1)?.headers["berth-event"]).toBe("test")
      expect(yield* cli("notify", "test", "owm")).toMatchObject({
        code: 1,
        err: expect.stringContaining("Did you mean \"own\"")
      })
      expect((yield* cli("notify", "list")).out).toContain("failures")
    }), 120_000 * patience)

  it.scopedLive("follow no redirect", () =>
    Effect.gen(function*() {
      const { file, port } = yield* stage
      yield* startReceiver(port, [302])
      const ran = yield* runCli({ settingsFile: file }, ["notify", "test", "own"])
      expect([ran.code, ran.err]).toEqual([
        1,
        expect.stringContaining("it answered 302, a redirect, which is not followed")
      ])
      expect(ran.err).not.toContain("hook")
    }), 60_000 * patience)
})
