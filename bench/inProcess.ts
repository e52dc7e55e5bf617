import { NodeContext } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime } from "effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { stringify } from "yaml"
import { deploy } from "../src/pipelines/deploy/deploy.ts"
import type { DeployRequest, DeployResult } from "../src/schema/Deploy.ts"
import { watchingSteps } from "../src/services/runs/watchRun.ts"
import { servicesLive } from "../src/services/ServicesLive.ts"

/** The service's own layers, in a process that wants to look at parts of a program. */
const services = (directory: string, settings: object) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const file = join(directory, "in-process.yaml")
    yield* Effect.promise(() => writeFile(file, stringify(settings), { mode: 0o600 }))
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

/** When each step of a deploy was done, in milliseconds from its beginning. */
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
      watchingSteps(({ status, step }) =>
        Effect.sync(() => {
          if (status === "done" && !done.has(step)) done.set(step, performance.now() - began)
        })
      )
    )
    if (!result.healthy) return yield* Effect.die(new Error(result.message))
    return { result, done } satisfies Timeline
  })
