import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import { deployAllTargets } from "../deploys/deployAllTargets.ts"
import { printDeployEnd } from "../deploys/printDeployEnd.ts"
import { buildFirst, projectName, requireService, startWithoutWaiting } from "../deploys/startDeploy.ts"
import { yes } from "../options/common.ts"
import { defineServiceCommand } from "../options/defineServiceCommand.ts"
import {
  describeLocation,
  locateStack,
  locationOptions,
  pickProjectLocation,
  readPlacedProject,
  resolveProject
} from "../options/projects.ts"
import { flagOption, optionalArgument } from "../parse/parameters.ts"
import { formatDeployPlan, hasPlannedChanges } from "../plans/deployPlan.ts"
import { followRun } from "../runs/followRun.ts"
import { Failed, Usage } from "../terminal/commandErrors.ts"
import { confirm } from "../terminal/confirm.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { wrapText } from "../terminal/wrapText.ts"

const deployCommand = defineServiceCommand(
  {
    name: "deploy",
    summary: "Deploy a project to its server.",
    details: "Shows what would change, asks, sends what the server lacks, starts the stack and waits until it is " +
      "healthy. Without a project it is the working directory.\nExit codes: 0 healthy, 3 deployed and not healthy, 1 failed, or " +
      "not healthy and replaced by the release before; with --dry-run 0, or 1 when something is in the way.\nA project with " +
      "targets is deployed to all of them: in turn until one fails, or with --parallel several at once; --server picks one.",
    examples: [
      "berth deploy",
      "berth deploy hello --yes",
      "berth deploy hello --dry-run --detailed-exitcode",
      "berth deploy shop --server web-1"
    ]
  },
  {
    project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
    yes,
    dryRun: flagOption("dry-run", "Show what would change, and change nothing."),
    detailed: flagOption("detailed-exitcode", "With --dry-run: end with 2 when something would change."),
    build: flagOption("build", "Build the image archive first."),
    parallel: flagOption("parallel", "Deploy to several targets of the project at once."),
    noWait: flagOption("no-wait", "Do not wait for the end; print the id of the run."),
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { err, out, print, say } = yield* Screen
    if (input.noWait && !input.dryRun) yield* requireService
    const projectPath = yield* resolveProject(input.project)
    const project = yield* Effect.cached(readPlacedProject(projectPath))
    if (Option.isNone(input.server) && Option.isNone(input.path)) {
      const { targets } = yield* project
      if (targets !== undefined) return yield* deployAllTargets(projectPath, input)
    }
    if (input.parallel) {
      return yield* new Usage({
        message: "--parallel is for a project with targets, and without --server and --path"
      })
    }
    const place = yield* locateStack(projectPath, input, project)
    if (input.build && !input.dryRun) yield* buildFirst(place.projectPath)
    const { body, value: plan } = yield* answer((api) => api.containerPlan({ payload: pickProjectLocation(place) }))
    const name = projectName(place.projectPath)
    if (input.dryRun) {
      yield* print(
        input.json
          ? body
          : wrapText([`Deploy ${name} to ${describeLocation(place)}:`, ...formatDeployPlan(plan, out)].join("\n"), out)
      )
      if (plan.obstacles.length > 0) {
        yield* say(`${name} cannot be deployed now.`)
        return exitCodes.failed
      }
      return input.detailed && hasPlannedChanges(plan) ? exitCodes.differs : exitCodes.done
    }
    yield* say([`Deploy ${name} to ${describeLocation(place)}:`, ...formatDeployPlan(plan, err)].join("\n"))
    if (plan.obstacles.length > 0) {
      return yield* new Failed({ message: `${name} cannot be deployed now: nothing was changed` })
    }
    if (!(yield* confirm(`Deploy ${name}?`, input.yes))) return exitCodes.failed
    const payload = { ...pickProjectLocation(place), planHash: plan.planHash }
    if (input.noWait) {
      return yield* startWithoutWaiting(place.projectPath, (api) => api.deploy({ payload }), input.json)
    }
    const deployed = yield* followRun((api) => api.deploy({ payload }))
    if (input.json) yield* print(deployed.body)
    return yield* printDeployEnd(deployed.value, input.json ? [] : deployed.next)
  })
)

const buildCommand = defineServiceCommand(
  {
    name: "build",
    summary: "Build a project's image archive with its script.",
    details: "Runs build-image-tar.sh or build-image-tar.ps1, and shows what it prints.",
    examples: ["berth build", "berth build hello"]
  },
  { project: optionalArgument("project", "Its name under the projects root, or its path.", "project") },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const projectPath = yield* resolveProject(input.project)
    const { body, value } = yield* followRun((api) => api.build({ payload: { projectPath } }))
    if (input.json) yield* print(body)
    else if (value.tarFile !== null) yield* say(`Built ${escapeInline(value.tarFile)}.`)
    return value.success ? exitCodes.done : exitCodes.failed
  })
)

export const deployCommands = [deployCommand, buildCommand]
