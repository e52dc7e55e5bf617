import { Effect, Option } from "effect"
import { Berth } from "../../client/Berth.ts"
import { hasPlannedChanges } from "../../schema/deploys.ts"
import { defineServiceCommand, yes } from "../options.ts"
import { confirmChange, escapeInline, exitCodes, Failed, Screen, Usage, wrapText } from "../output.ts"
import { flagOption, optionalArgument, textOption } from "../parse.ts"
import { formatDeployPlan } from "../plans.ts"
import {
  buildFirst,
  deployAllTargets,
  holdToPlan,
  noWaitOption,
  planHashOption,
  printDeployEnd,
  projectName,
  reportEnd,
  reportFailure,
  reportOptions,
  reportPlan,
  reportResult,
  requireService,
  startWithoutWaiting
} from "../reports.ts"
import { followRun } from "../runView.ts"
import {
  confirmOption,
  describeLocation,
  env,
  locateStack,
  locationOptions,
  pickEnvironment,
  pickProjectLocation,
  readPlacedProject,
  resolveProject
} from "../stackLocation.ts"

const deployCommand = defineServiceCommand(
  {
    name: "deploy",
    summary: "Deploy a project to its server.",
    details: "Shows what would change, asks, sends what the server lacks, starts the stack and waits until it is " +
      "healthy. Without a project it is the working directory.\nExit codes: 0 healthy, 3 deployed and not healthy, 1 failed, or " +
      "not healthy and replaced by the release before; with --dry-run 0, or 1 when something is in the way.\nA project with " +
      "targets is deployed to all of them: in turn until one fails, or with --parallel several at once; --server picks one.\nA " +
      "protected environment is deployed once its name was typed, or with --confirm NAME.",
    examples: [
      "berth deploy",
      "berth deploy hello --yes",
      "berth deploy hello --dry-run --detailed-exitcode",
      "berth deploy shop --env staging",
      "berth deploy shop --server web-1",
      "berth deploy --dry-run --report plan.md --annotations github"
    ]
  },
  {
    project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
    yes,
    dryRun: flagOption("dry-run", "Show what would change, and change nothing."),
    detailed: flagOption("detailed-exitcode", "With --dry-run: end with 2 when something would change."),
    noSecrets: flagOption("no-secrets", "With --dry-run: run no program that prints a secret."),
    build: flagOption(
      "build",
      "Build first: with the project's script, or from the build: sections of its compose file."
    ),
    parallel: flagOption("parallel", "Deploy to several targets of the project at once."),
    noWait: noWaitOption,
    planHash: planHashOption,
    confirm: confirmOption,
    ...reportOptions,
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { err, out, print, say } = yield* Screen
    if (input.noWait && !input.dryRun) yield* requireService
    if (input.noSecrets && !input.dryRun) {
      return yield* new Usage({ message: "--no-secrets is for --dry-run: a deploy brings the secrets of its project" })
    }
    if (input.dryRun && Option.isSome(input.planHash)) {
      return yield* new Usage({ message: "--plan-hash is for a deploy, which fails where something has moved since" })
    }
    const projectPath = yield* resolveProject(input.project)
    const name = projectName(projectPath)
    const reported = reportFailure(input, name)
    const project = yield* Effect.cached(readPlacedProject(projectPath, pickEnvironment(input)))
    if (Option.isNone(input.server) && Option.isNone(input.path)) {
      const { targets } = yield* reported(project)
      if (targets !== undefined) return yield* deployAllTargets(projectPath, input)
    }
    if (input.parallel) {
      return yield* new Usage({
        message: "--parallel is for a project with targets, and without --server and --path"
      })
    }
    const place = yield* reported(locateStack(projectPath, input, project))
    if (input.build && !input.dryRun) yield* reported(buildFirst(place.projectPath, pickEnvironment(input)))
    const { body, value: plan } = yield* reported(
      answer((api) => api.containerPlan({ payload: { ...pickProjectLocation(place), noSecrets: input.noSecrets } }))
    )
    if (input.dryRun) {
      yield* print(
        input.json
          ? body
          : wrapText([`Deploy ${name} to ${describeLocation(place)}:`, ...formatDeployPlan(plan, out)].join("\n"), out)
      )
      yield* reportPlan(input, place.serverName, plan)
      if (plan.obstacles.length > 0) {
        yield* say(`${name} cannot be deployed now.`)
        return exitCodes.failed
      }
      return input.detailed && hasPlannedChanges(plan) ? exitCodes.differs : exitCodes.done
    }
    yield* say([`Deploy ${name} to ${describeLocation(place)}:`, ...formatDeployPlan(plan, err)].join("\n"))
    if (plan.obstacles.length > 0) {
      const message = `${name} cannot be deployed now: nothing was changed`
      yield* reportEnd(input, name, { outcome: "failed", message: [message, ...plan.obstacles].join("\n") })
      return yield* new Failed({ message })
    }
    const where = place.environment === undefined ? "" : ` to ${escapeInline(place.environment)}`
    const confirmed = yield* confirmChange(`Deploy ${name}${where}?`, input, place)
    if (Option.isNone(confirmed)) return exitCodes.failed
    const payload = { ...pickProjectLocation(place), ...holdToPlan(input, plan), ...confirmed.value }
    if (input.noWait) {
      return yield* startWithoutWaiting((api) => api.deploy({ payload }), input.json)
    }
    const deployed = yield* reported(followRun((api) => api.deploy({ payload })))
    if (input.json) yield* print(deployed.body)
    yield* reportResult(input, name, deployed.value, { ...deployed, where: place })
    return yield* printDeployEnd(deployed.value, input.json ? [] : deployed.next)
  })
)

const buildCommand = defineServiceCommand(
  {
    name: "build",
    summary: "Build a project's images, with its script or from its compose file.",
    details:
      "Runs build-image-tar.sh or build-image-tar.ps1, and shows what it prints. Without either, each distinct build: " +
      "section of the compose file is built once with Docker here, or where build.at of container.json says, and the next " +
      "deploy sends the images. The options are for builds from a compose file.",
    examples: [
      "berth build",
      "berth build hello",
      "berth build shop --at builder-1 --no-cache",
      "berth build shop --service web"
    ]
  },
  {
    project: optionalArgument("project", "Its name under the projects root, or its path.", "project"),
    at: textOption("at", "Build here, at the target, or at this stored server.", { value: "server", names: "server" }),
    noCache: flagOption("no-cache", "Take no layer from Docker's cache."),
    service: textOption("service", "Build the section of this service alone.", { value: "name" }),
    env
  },
  Effect.fnUntraced(function*(input) {
    const { print, say } = yield* Screen
    const projectPath = yield* resolveProject(input.project)
    const { body, value } = yield* followRun((api) =>
      api.build({
        payload: {
          projectPath,
          ...pickEnvironment(input),
          ...Option.isSome(input.at) ? { at: input.at.value } : {},
          ...Option.isSome(input.service) ? { service: input.service.value } : {},
          ...input.noCache ? { noCache: true } : {}
        }
      })
    )
    if (input.json) yield* print(body)
    else if (value.tarFile !== null) yield* say(`Built ${escapeInline(value.tarFile)}.`)
    else if (value.success && value.images !== undefined) {
      const built = value.images.map(({ platform, services }) => `${services.join(", ")} (${platform})`)
      yield* say(`Built ${escapeInline(built.join(", "))}. The next deploy sends what the server lacks.`)
    }
    return value.success ? exitCodes.done : exitCodes.failed
  })
)

export const deployCommands = [deployCommand, buildCommand]
