import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { executeStackAction, reconcileStack } from "../../../src/pipelines/stacks.ts"
import type { StackAction } from "../../../src/schema/stacks.ts"
import { StepsLive } from "../../../src/services/runs/Steps.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { newestRun } from "../../fixtures/runs/newestRun.ts"
import { shells } from "../../layers/RemoteHere.ts"

const remotePath = "~/containers/shop"

const staged = (options?: Parameters<typeof scene>[0]) =>
  Effect.gen(function*() {
    const stage = yield* scene(options)
    yield* stage.bring(stage.archive("one"))
    yield* stage.deployed
    const server = yield* Effect.provide(Effect.flatMap(Settings, (settings) => settings.server("1")), stage.berth)
    return {
      ...stage,
      does: (action: StackAction) =>
        Effect.provide(executeStackAction(action, { serverId: "1", remotePath }), stage.berth),
      /** Recovers an action as a restarted service does; it began now unless given. */
      reconciled: (action: StackAction, since = Date.now(), volumes = false) =>
        Effect.gen(function*() {
          const run = yield* newestRun
          const step = {
            step: action,
            status: "running",
            detail: "",
            startedAt: run.requestedAt,
            endedAt: null
          } as const
          const left = { ...run, kind: "stack", startedAt: new Date(since).toISOString(), steps: [step] } as const
          return yield* reconcileStack({ server, remotePath }, { action, volumes }, left)
        }).pipe(Effect.provide(stage.berth), Effect.provide(StepsLive))
    }
  })

describe.each(shells)("what is done to a stack when the service ends, in $name", (shell) => {
  it.scopedLive(
    "is told as done where the server has done it, and as interrupted where it has not",
    () =>
      Effect.gen(function*() {
        const { does, reconciled } = yield* staged({ shell: shell.path })
        const said = (action: StackAction) => Effect.map(Effect.flip(reconciled(action)), ({ message }) => message)
        const begun = Date.now() - 3_600_000
        expect(yield* said("stop")).toBe(
          "The service ended while the action on the stack was at stop. Its container runs now. Stop it again where that is " +
            "still wanted"
        )
        expect(yield* said("remove")).toMatch(/Its container runs now\. Remove it again/)
        // It ran before the run began.
        yield* Effect.sleep("20 millis")
        expect(yield* said("restart")).toMatch(/Restart it again/)
        expect(yield* reconciled("restart", begun)).toEqual({
          success: true,
          status: "healthy",
          message: "Restarted ~/containers/shop on \"Main\" while the service was started again: the stack is healthy."
        })
        expect(yield* reconciled("start")).toMatchObject({ success: true, status: "healthy" })
        yield* does("stop")
        expect(yield* reconciled("stop")).toEqual({
          success: true,
          status: "exited",
          message: "Stopped ~/containers/shop on \"Main\" while the service was started again. Its container does " +
            "not run now."
        })
        expect(yield* said("start")).toMatch(/Its container does not run now\. Start it again/)
        yield* does("remove")
        expect(yield* reconciled("remove")).toEqual({
          success: true,
          status: "missing",
          message:
            "Removed ~/containers/shop on \"Main\" while the service was started again. Its volumes and data/ stay."
        })
        expect((yield* reconciled("remove", Date.now(), true)).message).toMatch(
          / Its volumes were to go too: docker volume ls shows what is left of them\. data\/ stays\.$/
        )
        expect(yield* Effect.flip(reconciled("stop"))).toMatchObject({ _tag: "StackMissing" })
      }),
    60_000 * patience
  )

  it.scopedLive("is asked for when the server has come to the end of it", () =>
    Effect.gen(function*() {
      const { reconciled, remote, standIns } = yield* staged({ shell: shell.path })
      const docker = `${join(standIns.bin, "docker")} compose -f compose.yml stop`
      // Another process of the server has it under way.
      spawn("flock", [".berth/activation", "sh", "-c", `sleep 1; ${docker}`], {
        cwd: remote,
        env: { ...process.env, ...standIns.env }
      })
      yield* Effect.sleep("200 millis")
      expect(yield* reconciled("stop")).toMatchObject({ success: true, status: "exited" })
    }), 60_000 * patience)
})
