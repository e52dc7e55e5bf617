import { NodeContext } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { stringify } from "yaml"
import { deploy } from "../src/pipelines/deploy/deploy.ts"
import type { DeployRequest, DeployResult } from "../src/schema/deploys.ts"
import { watchSteps } from "../src/services/runs/events.ts"
import { servicesLive } from "../src/services/ServicesLive.ts"

/** The service's own layers, in a process that wants to look at parts of a program. */
const services = (directory: string, settings: object) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    // A directory of its own: the service's process holds the store beside its own settings file.
    const own = join(directory, "in-process")
    const file = join(own, "berth.yaml")
    yield* Effect.promise(async () => {
      await mkdir(own, { recursive: true })
      await writeFile(file, stringify(settings), { mode: 0o600 })
    })
    return servicesLive(file)
  })).pipe(Layer.provideMerge(NodeContext.layer), Layer.orDie)

/** The service's programs inside this process. */
export type InProcess = Effect.Effect.Success<ReturnType<typeof inProcess>>

/** Makes the service's programs ready to run with these settings; its connections close with the scope. */
export const inProcess = (directory: string, settings: object) =>
  Effect.acquireRelease(
    Effect.sync(() => ManagedRuntime.make(services(directory, settings))),
    (runtime) => Effect.promise(() => runtime.dispose())
  )

/** End of each step of a deploy, in milliseconds from its start. */
export interface Timeline {
  readonly result: DeployResult
  readonly done: ReadonlyMap<string, number>
}

/** Deploys and takes down when each step was done; fails unless the stack came up healthy. */
export const timedDeploy = (runtime: InProcess, request: DeployRequest): Promise<Timeline> =>
  runtime.runPromise(timed(request))

const timed = (request: DeployRequest) =>
  Effect.gen(function*() {
    const done = new Map<string, number>()
    const began = performance.now()
    const result = yield* deploy(request).pipe(
      Effect.tap(() => Effect.sync(() => done.set("answer", performance.now() - began))),
      watchSteps(({ status, step }) =>
        Effect.sync(() => {
          if (status === "done" && !done.has(step)) done.set(step, performance.now() - began)
        })
      )
    )
    if (!result.healthy) return yield* Effect.die(new Error(result.message))
    return { result, done } satisfies Timeline
  })
