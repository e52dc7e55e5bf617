import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { type Run, RunsPage } from "../../src/schema/runs.ts"
import { TargetsResult } from "../../src/schema/targets.ts"
import { startBerth } from "../fixtures/berthProcess.ts"
import { patience } from "../fixtures/patience.ts"
import { requestTo } from "../sandbox/request.ts"

const json = { "content-type": "application/json", "prefer": "respond-async" }
const decodeRuns = Schema.decodeUnknownSync(RunsPage)
const decodeResult = Schema.decodeUnknownSync(TargetsResult)

describe.skipIf(process.platform === "win32")("a deploy to several targets whose process ends", () => {
  it.scopedLive.each(["SIGKILL", "SIGTERM"] as const)(
    "by %s goes on at the next start, and deploys to none twice",
    (signal) =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const projectPath = join(world.projects, "hello")
        const paths = ["one", "two", "three"].map((name) => `~/containers/${name}`)
        const targets = paths.map((remotePath) => ({ server: "Sandbox", remotePath }))
        writeFileSync(join(projectPath, "compose.yml"), "services:\n  hello:\n    image: hello:latest\n")
        writeFileSync(join(projectPath, "container.json"), JSON.stringify({ targets }))
        let berth = yield* startBerth(world.settingsFile)
        /** Runs, the oldest first. */
        const runs = Effect.suspend(() =>
          Effect.map(requestTo(berth.url, json)("GET", "/api/runs"), ({ body }) => decodeRuns(body).runs.toReversed())
        )
        const until = (holds: (runs: ReadonlyArray<Run>) => boolean) =>
          Effect.repeat(runs, { until: holds, schedule: Schedule.spaced("10 millis") }).pipe(
            Effect.zipRight(runs),
            Effect.timeout("60 seconds")
          )
        yield* requestTo(berth.url, json)("POST", "/api/container/deploy/targets", { projectPath })
        // The server completes what it has loaded. A load that is cut off is undone, and its deploy is interrupted.
        yield* until(([, , second]) =>
          second?.steps.some(({ status, step }) => step === "load" && status === "done") === true
        )
        yield* berth.kill(signal)
        yield* berth.ended
        berth = yield* startBerth(world.settingsFile)
        const [parent, ...children] = yield* until(([first]) => first?.state !== "running")
        expect(children.map(({ parent, state, subject }) => [parent, subject.remotePath, state])).toEqual(
          paths.map((path) => [parent?.id, path, "succeeded"])
        )
        expect(parent).toMatchObject({ kind: "deploy-all", state: "succeeded", error: null })
        expect(decodeResult(parent?.result).targets.map(({ runId }) => runId)).toEqual(children.map(({ id }) => id))
      }),
    120_000 * patience
  )
})
