import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import type { DeployResult } from "../../schema/deploy/Deploy.ts"
import { runVerdict } from "../../schema/runs/runVerdict.ts"
import { suggestCommand, withService } from "../connection/withService.ts"
import { common, yes } from "../options/common.ts"
import {
  describePlace,
  type Place,
  placeOptions,
  projectAt,
  resolvePlace,
  resolveProject
} from "../options/projects.ts"
import { command } from "../parse/command.ts"
import { flag, optionalArgument } from "../parse/described.ts"
import { changesAnything, deployPlanLines } from "../plans/deployPlan.ts"
import { followRun } from "../runs/followRun.ts"
import { suggestFollowing } from "../runs/handleInterrupt.ts"
import { confirm } from "../terminal/confirm.ts"
import { exitCodes, Failed, verdictCode } from "../terminal/Failure.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"
import { wrapText } from "../terminal/wrapText.ts"

const nameOf = (path: string) => safeText(path.split(/[/\\]/).at(-1) ?? path)

const signs = { done: ["✓", "green"], unhealthy: ["!", "yellow"], failed: ["✗", "red"] } as const

/** Prints the outcome of a deploy or rollback; returns its exit code. */
export const printDeployEnd = (result: DeployResult) =>
  Effect.gen(function*() {
    const { message } = result
    const { err, say } = yield* Screen
    const verdict = runVerdict({ kind: "deploy", subject: {} }, result)
    const [sign, color] = signs[verdict]
    const [first = "", ...others] = message.split("\n").map(safeText)
    yield* say([`${styled(err)(color, sign)} ${first}`, ...others].join("\n"))
    return verdictCode[verdict]
  })

const buildFirst = (projectPath: string) =>
  Effect.gen(function*() {
    const { value } = yield* followRun((api) => api.build({ payload: { projectPath } }))
    if (value.success) return
    return yield* new Failed({
      message: `The build of ${nameOf(projectPath)} failed with exit code ${
        value.exitCode ?? "none"
      }: nothing was deployed`
    })
  })

const startWithoutWaiting = (place: Place, planHash: string, json: boolean) =>
  Effect.gen(function*() {
    const { start } = yield* Berth
    const { print, say } = yield* Screen
    const { run } = yield* start((api) => api.deploy({ payload: { ...projectAt(place), planHash } }))
    yield* print(json ? JSON.stringify(run) : run.id)
    yield* say(`The deploy of ${nameOf(place.projectPath)} goes on.\n${yield* suggestFollowing(run)}`)
    // A Ctrl-C must not hide the id of a run that was started.
  }).pipe(Effect.uninterruptible)

/** Fails unless a deploy would outlive this process. */
const requireService = Effect.gen(function*() {
  const { outlives } = yield* Berth
  if (yield* outlives()) return
  const serve = yield* suggestCommand("berth serve")
  return yield* new Failed({
    message: "--no-wait needs a running service, which carries the deploy to its end: nothing was changed. Start one " +
      `with ${serve}, or leave out --no-wait`
  })
})

const deployCommand = command(
  {
    name: "deploy",
    summary: "Deploy a project to its server.",
    details: "Shows what would change, asks, sends what the server lacks, starts the stack and waits until it is " +
      "healthy. Without a project it is the working directory.\nExit codes: 0 healthy, 3 deployed and not healthy, 1 failed, or " +
      "not healthy and replaced by the release before; with --dry-run 0, or 1 when something is in the way.",
    examples: ["berth deploy", "berth deploy hello --yes", "berth deploy hello --dry-run --detailed-exitcode"]
  },
  {
    project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
    yes,
    dryRun: flag("dry-run", "Show what would change, and change nothing."),
    detailed: flag("detailed-exitcode", "With --dry-run: end with 2 when something would change."),
    build: flag("build", "Build the image archive first."),
    noWait: flag("no-wait", "Do not wait for the end; print the id of the run."),
    ...placeOptions,
    ...common
  },
  (input) =>
    withService(
      input,
      Effect.gen(function*() {
        const { answer } = yield* Berth
        const { err, out, print, say } = yield* Screen
        if (input.noWait && !input.dryRun) yield* requireService
        const place = yield* resolvePlace(input.project, input)
        if (input.build && !input.dryRun) yield* buildFirst(place.projectPath)
        const { body, value: plan } = yield* answer((api) => api.containerPlan({ payload: projectAt(place) }))
        const name = nameOf(place.projectPath)
        if (input.dryRun) {
          yield* print(
            input.json
              ? body
              : wrapText([`Deploy ${name} to ${describePlace(place)}:`, ...deployPlanLines(plan, out)].join("\n"), out)
          )
          if (plan.obstacles.length > 0) {
            yield* say(`${name} cannot be deployed now.`)
            return exitCodes.failed
          }
          return input.detailed && changesAnything(plan) ? exitCodes.differs : exitCodes.done
        }
        yield* say([`Deploy ${name} to ${describePlace(place)}:`, ...deployPlanLines(plan, err)].join("\n"))
        if (plan.obstacles.length > 0) {
          return yield* new Failed({ message: `${name} cannot be deployed now: nothing was changed` })
        }
        if (!(yield* confirm(`Deploy ${name}?`, input.yes))) return exitCodes.failed
        if (input.noWait) return yield* startWithoutWaiting(place, plan.planHash, input.json)
        const deployed = yield* followRun((api) =>
          api.deploy({ payload: { ...projectAt(place), planHash: plan.planHash } })
        )
        if (input.json) yield* print(deployed.body)
        return yield* printDeployEnd(deployed.value)
      })
    )
)

const buildCommand = command(
  {
    name: "build",
    summary: "Build a project's image archive with its script.",
    details: "Runs build-image-tar.sh or build-image-tar.ps1, and shows what it prints.",
    examples: ["berth build", "berth build hello"]
  },
  { project: optionalArgument("project", "Its name under the projects root, or its path.", "project"), ...common },
  (input) =>
    withService(
      input,
      Effect.gen(function*() {
        const { print, say } = yield* Screen
        const projectPath = yield* resolveProject(input.project)
        const { body, value } = yield* followRun((api) => api.build({ payload: { projectPath } }))
        if (input.json) yield* print(body)
        else if (value.tarFile !== null) yield* say(`Built ${safeText(value.tarFile)}.`)
        return value.success ? exitCodes.done : exitCodes.failed
      })
    )
)

export const deployCommands = [deployCommand, buildCommand]
