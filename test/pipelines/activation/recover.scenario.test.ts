import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { reconcileDeploy } from "../../../src/pipelines/deploy/deploy.ts"
import { reconcileRollback } from "../../../src/pipelines/releases/rollback.ts"
import type { OnUnhealthy } from "../../../src/schema/deploys.ts"
import { makeSteps, Steps } from "../../../src/services/runs/Steps.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { scene } from "../../fixtures/docker/deployScene.ts"
import { patience } from "../../fixtures/patience.ts"
import { newestRun } from "../../fixtures/runs/newestRun.ts"
import { shells } from "../../layers/RemoteHere.ts"
import { eventually } from "../../sandbox/eventually.ts"

const well = `services:\n  web:\n    image: shop:latest\n    env_file: [.env]\n`
const ill = `${well}    command: ["sh", "-c", "exit 3"]\n`
const remotePath = "~/containers/shop"

/** The steps of a run that is gone on with. */
const stepsOf = (run: string) =>
  Effect.provideServiceEffect(Steps, Effect.map(makeSteps(), (steps) => ({ ...steps, run })))

/** A server where version one is well and version two is not, and was deployed while nobody waited for its health. */
const stageWith = (options: Parameters<typeof scene>[0] = {}) =>
  Effect.gen(function*() {
    const stage = yield* scene({ ...options, settings: { "deploy.healthInterval": Duration.millis(100) } })
    const write = (name: string, text: string) => writeFileSync(join(stage.directory, name), text)
    const deploys = (compose: string, version: string) =>
      Effect.gen(function*() {
        write("compose.yml", compose)
        write("container.json", JSON.stringify(compose === well ? {} : { healthTimeout: "100 millis" }))
        yield* stage.bring(stage.archive(version))
        yield* stage.deployedWith({ onUnhealthy: "keep" })
      })
    yield* deploys(well, "one")
    const image = yield* stage.docker("inspect", "--format", "{{.Image}}", "shop-web-1")
    const server = yield* Effect.provide(Effect.flatMap(Settings, (settings) => settings.server("1")), stage.berth)
    const left = Effect.provide(newestRun, stage.berth)
    return {
      ...stage,
      deploys,
      image,
      left,
      server,
      runs: stage.docker("inspect", "--format", "{{.Image}} {{.State.Status}}", "shop-web-1"),
      read: (name: string) => readFileSync(join(stage.remote, name), "utf8"),
      /** Recovers the newest deploy as a restarted service does. */
      reconciled: (onUnhealthy?: OnUnhealthy) =>
        Effect.gen(function*() {
          const wishes = onUnhealthy === undefined ? {} : { onUnhealthy }
          const run = yield* left
          return yield* stepsOf(run.id)(
            reconcileDeploy({ server, directory: stage.directory, remotePath }, run, wishes)
          )
        }).pipe(Effect.provide(stage.berth)),
      reconciledRollback: Effect.gen(function*() {
        const run = yield* left
        return yield* stepsOf(run.id)(reconcileRollback({ server, remotePath }, run))
      }).pipe(Effect.provide(stage.berth))
    }
  })

const meanwhile = "The service was started again meanwhile."

describe.each(shells)("a deploy that was carried through while no service waited for it, in $name", (shell) => {
  it.scopedLive(
    "makes way for the release before where it does not get healthy, and is told so once more",
    () =>
      Effect.gen(function*() {
        const stage = yield* stageWith({ shell: shell.path })
        yield* stage.deploys(ill, "two")
        const result = yield* stage.reconciled()
        expect(result).toMatchObject({ success: false, healthy: false, status: "unhealthy", uploadedFiles: [] })
        expect(result.message).toMatch(
          /^The new version in ~\/containers\/shop on "Main" was exited after 1 second: shop-web-1 exited with code 3\. Release 1, which ran before, runs again and is healthy\. The service was started again meanwhile\.\nshop-web-1 \(exited, exit code 3\)/
        )
        expect(yield* stage.runs).toBe(`${stage.image} running`)
        expect(stage.read("compose.yml")).toBe(well)
        expect((yield* stage.releases).map(({ current, id }) => [id, current])).toEqual([["1", true]])

        // Killed once more, right after that.
        const undone = yield* stage.reconciled()
        expect(undone).toMatchObject({ success: false, healthy: false })
        expect(undone.message).toBe(
          `The new version in ~/containers/shop on "Main" did not get healthy in time. Release 1, which ran before, ` +
            `runs again and is healthy. ${meanwhile}`
        )
      }),
    60_000 * patience
  )
})

describe("a deploy that was carried through while no service waited for it", () => {
  it.scopedLive(
    "stays where that is wanted, and is judged by what was deployed and not by the project of today",
    () =>
      Effect.gen(function*() {
        const stage = yield* stageWith()
        yield* stage.deploys(ill, "two")
        const kept = yield* stage.reconciled("keep")
        expect(kept).toMatchObject({ success: true, healthy: false, status: "exited" })
        expect(kept).not.toHaveProperty("isFirst")
        expect(kept.message).toMatch(
          /^Deployed to .* while the service was started again: the stack is exited: shop-web-1 exited with code 3\.\nshop-web-1 /
        )
        yield* stage.deploys(well, "three")
        rmSync(join(stage.directory, "compose.yml"))
        const result = yield* stage.reconciled()
        expect(result.message).toBe(
          "Deployed to ~/containers/shop on \"Main\" while the service was started again: the stack is healthy."
        )
        // Containers that had exited before the deploy do not count as running before.
        expect(stage.read(".berth/outcome")).toMatch(/\tstarted\t3\t\n$/)
      }),
    60_000 * patience
  )

  it.scopedLive(
    "stays where the release before does not start, and is told so once more",
    () =>
      Effect.gen(function*() {
        const stage = yield* stageWith()
        yield* stage.deploys(ill, "two")
        yield* stage.program(
          "docker",
          `case $* in *" up -d") [ -e "$HOME/no" ] || { : >"$HOME/no"; echo no >&2; exit 1; } ;; esac\nexec "$STAND_INS/docker" "$@"`
        )
        const left = yield* stage.reconciled()
        expect(left).toMatchObject({ success: true, healthy: false, status: "exited" })
        expect(left.message).toMatch(
          /Release 1 could not be started again, so the new version is left as it is: no\. The/
        )
        expect(stage.read(".berth/outcome")).toMatch(/\tstays\tstart\tyes\t/)
        const again = yield* stage.reconciled()
        expect(again).toMatchObject({ success: true, healthy: false })
        expect(again.message).toContain(
          "could not be started again, so the new version is left as it is: no. The list of"
        )
      }),
    60_000 * patience
  )
})

describe("a rollback that was carried through while no service waited for it", () => {
  it.scopedLive("is told with how its stack does", () =>
    Effect.gen(function*() {
      const stage = yield* stageWith()
      yield* stage.deploys(well, "two")
      yield* stage.rolledBack()
      expect(yield* stage.reconciledRollback).toEqual({
        success: true,
        healthy: true,
        status: "healthy",
        uploadedFiles: [],
        message: "Rolled back ~/containers/shop on \"Main\" while the service was started again: the stack is healthy."
      })
      rmSync(join(stage.remote, ".berth/current"))
      expect((yield* Effect.flip(stage.reconciledRollback)).message).toBe(
        "Rollback failed at health: the stack was started, and was not kept as a release: the list of containers shows its health"
      )
    }), 60_000 * patience)

  it.scopedLive("is told with what runs where it failed, or had not begun", () =>
    Effect.gen(function*() {
      const stage = yield* stageWith()
      yield* stage.deploys(well, "two")
      yield* stage.program(
        "docker",
        `case $* in *" up -d") [ -e "$HOME/no" ] || { : >"$HOME/no"; echo no >&2; exit 1; } ;; esac\nexec "$STAND_INS/docker" "$@"`
      )
      yield* Effect.flip(stage.rolledBack())
      expect((yield* Effect.flip(stage.reconciledRollback)).message).toBe(
        "Rollback failed at start: no. The previous version is running again"
      )
      writeFileSync(join(stage.remote, ".berth/outcome"), "another\tstarted\t2\t1\n")
      const left = { ...(yield* stage.left), steps: [] }
      const interrupted = yield* Effect.flip(reconcileRollback({ server: stage.server, remotePath }, left)).pipe(
        stepsOf(left.id),
        Effect.provide(stage.berth)
      )
      expect(interrupted.message).toBe(
        "The service ended while the rollback was at its beginning. The server had not begun to start anything, so what " +
          "ran before runs on. Roll back again"
      )
    }), 60_000 * patience)
})

describe("a deploy that is gone on with and cancelled", () => {
  it.scopedLive("while it waits for health has the release before run again", () =>
    Effect.gen(function*() {
      const stage = yield* stageWith()
      yield* stage.deploys(ill, "two")
      // Longer than anybody waits here; the release says how long.
      const note = join(stage.remote, ".berth/releases/2/note")
      writeFileSync(note, readFileSync(note, "utf8").replaceAll("100", "20000"))
      const run = yield* stage.left
      const steps = { ...(yield* makeSteps()), run: run.id, isCancelled: Effect.succeed(true) }
      const going = yield* Effect.fork(
        reconcileDeploy({ server: stage.server, directory: stage.directory, remotePath }, run).pipe(
          Effect.provideService(Steps, steps),
          Effect.provide(stage.berth)
        )
      )
      yield* eventually(Effect.map(steps.all, (all) => all.at(-1)?.step === "health"))
      yield* Fiber.interrupt(going)
      expect((yield* steps.all).at(-1)).toMatchObject({ step: "rollback", status: "done" })
      expect(yield* stage.runs).toBe(`${stage.image} running`)
      expect(stage.read("compose.yml")).toBe(well)
    }), 60_000 * patience)
})
