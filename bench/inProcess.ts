import { NodeContext } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { stringify } from "yaml"
import { deploy } from "../src/pipelines/deploy/deploy.ts"
import type { DeployRequest, DeployResult } from "../src/schema/Deploy.ts"
import { Runs } from "../src/services/runs/Runs.ts"
import { servicesLive } from "../src/services/ServicesLive.ts"

/** The service's own layers in this process, for looking at parts of a program. */
export const services = (directory: string, settings: object) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const file = join(directory, "in-process.yaml")
    yield* Effect.promise(() => writeFile(file, stringify(settings), { mode: 0o600 }))
    return servicesLive(file)
  })).pipe(Layer.provideMerge(NodeContext.layer))

/** When each step of a deploy was done, in milliseconds from its beginning. */
export interface Timeline {
  readonly result: DeployResult
  readonly done: ReadonlyMap<string, number>
}

/** Deploys and takes down when each step was done. */
export const timedDeploy = (request: DeployRequest) =>
  Effect.gen(function*() {
    const runs = yield* Runs
    const known = new Set((yield* runs.all).map(({ id }) => id))
    const done = new Map<string, number>()
    const began = performance.now()
    const watch = Effect.gen(function*() {
      const run = yield* Effect.repeat(
        Effect.delay(Effect.map(runs.all, (all) => all.find(({ id }) => !known.has(id))), "1 millis"),
        { until: (run) => run !== undefined }
      )
      if (run === undefined) return
      yield* Stream.runForEach(run.steps.changes, (steps) =>
        Effect.sync(() => {
          for (const { status, step } of steps) {
            if (status === "done" && !done.has(step)) done.set(step, performance.now() - began)
          }
        }))
    })
    const watching = yield* Effect.fork(watch)
    const result = yield* deploy(request)
    done.set("answer", performance.now() - began)
    yield* Effect.forkDaemon(watching.interruptAsFork(watching.id()))
    return { result, done } satisfies Timeline
  })
