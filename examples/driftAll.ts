// Compares every project under the projects root with the platform. Exit status: 0 when nothing differs, 2 when
// something does, 1 when it could not be found out.
//
//   BERTH_CONFIG=berth.yaml npx tsx examples/driftAll.ts
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { drift, listProjects, readPlatformFile } from "berth-pipelines/pipelines"
import { differencesIn } from "berth-pipelines/schema"
import { requireConfirmedSettings, servicesLive } from "berth-pipelines/services"
import { Console, Effect, Layer, Option } from "effect"

const shown = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value)

const statusOf = (projectPath: string, appName: string) =>
  Effect.gen(function*() {
    const answer = yield* drift({ projectPath, appName })
    const { diffs, exists, hook = [], others = [], routes = [], unknown = [] } = answer
    if (!exists) yield* Console.log(`${appName}: not on the platform`)
    for (const { label, local, remote } of [...diffs, ...routes, ...hook, ...others]) {
      yield* Console.log(`${appName}: ${label} is ${shown(remote)}, declared is ${shown(local)}`)
    }
    for (const { label, reason } of unknown) yield* Console.log(`${appName}: ${label} cannot be told: ${reason}`)
    return !exists || differencesIn(answer) > 0 ? 2 : unknown.length > 0 ? 1 : 0
  })

const program = Effect.gen(function*() {
  const declared = yield* Effect.forEach(yield* listProjects(), ({ path }) =>
    Effect.map(
      readPlatformFile(path),
      Option.match({ onNone: () => [], onSome: (apps) => apps.map(({ entry }) => ({ path, name: entry.name })) })
    ))
  const statuses = yield* Effect.forEach(declared.flat(), ({ name, path }) => statusOf(path, name), { concurrency: 4 })
  return Math.max(0, ...statuses)
})

program.pipe(
  Effect.provide(Layer.unwrapEffect(Effect.map(requireConfirmedSettings(), (place) => servicesLive(place)))),
  Effect.provide(NodeContext.layer),
  Effect.tap((status) => Effect.sync(() => process.exitCode = status)),
  NodeRuntime.runMain
)
