// Creates or updates the application of a project and prints each step as it comes. It is a run like any other: it
// waits for its turn, and the history of runs tells of it.
//
//   BERTH_CONFIG=berth.yaml npx tsx examples/upsert.ts /path/to/project [application]
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { recoverRuns, upsert } from "berth-pipelines/pipelines"
import { requireConfirmedSettings, servicesLive, watchSteps } from "berth-pipelines/services"
import { Console, Effect, Layer } from "effect"
import { resolve } from "node:path"

const [projectPath = ".", appName] = process.argv.slice(2)

// Finish runs that an earlier process left.
const program = Effect.zipRight(recoverRuns, upsert({ projectPath: resolve(projectPath), appName })).pipe(
  watchSteps(({ detail, status, step }) => Console.log(`${step.padEnd(10)} ${status.padEnd(8)} ${detail}`.trimEnd())),
  Effect.flatMap(({ domain, uuid }) => Console.log(`${uuid} ${domain}`.trimEnd()))
)

program.pipe(
  Effect.provide(Layer.unwrapEffect(Effect.map(requireConfirmedSettings(), (place) => servicesLive(place)))),
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain
)
