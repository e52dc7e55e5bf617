// Creates or updates the application of a project and prints each step as it comes.
//
//   BERTH_CONFIG=berth.yaml npx tsx examples/upsert.ts /path/to/project [application]
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { resolve } from "node:path"
import { upsertApp } from "../src/pipelines/upsert/upsertApp.ts"
import { makeSteps, Steps } from "../src/services/runs/Steps.ts"
import { servicesLive } from "../src/services/ServicesLive.ts"
import { settingsFile } from "../src/services/settings/settingsFile.ts"

const [projectPath = ".", appName] = process.argv.slice(2)

/** The usual record of steps, said aloud. */
const PrintedSteps = Layer.effect(
  Steps,
  Effect.map(makeSteps, (steps) => ({
    ...steps,
    record: (step) =>
      Effect.zipRight(
        steps.record(step),
        Console.log(`${step.step.padEnd(10)} ${step.status.padEnd(8)} ${step.detail}`.trimEnd())
      )
  }))
)

const program = Effect.flatMap(
  upsertApp({ projectPath: resolve(projectPath), appName }),
  ({ domain, uuid }) => Console.log(`${uuid} ${domain}`.trimEnd())
)

program.pipe(
  Effect.provide(Layer.merge(Layer.unwrapEffect(Effect.map(settingsFile, servicesLive)), PrintedSteps)),
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain
)
