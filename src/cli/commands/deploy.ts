import { Effect, Option } from "effect"
import { Berth, type Call } from "../../client/Berth.ts"
import { hasPlannedChanges } from "../../schema/deploys.ts"
import { computeRunVerdict } from "../../schema/runs.ts"
import type { StackAction, StackRequest, StackResult } from "../../schema/stacks.ts"
import { defineServiceCommand, yes } from "../options.ts"
import { confirmChange, escapeInline, exitCodes, Failed, Screen, Usage, wrapText } from "../output.ts"
import { flagOption, optionalArgument, textOption } from "../parse.ts"
import { formatDeployPlan, formatRemains, formatRemoval } from "../plans.ts"
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
  startWithoutWaiting,
  verdictCode
} from "../reports.ts"
import { followRun } from "../runView.ts"
import {
  confirmOption,
  describeLocation,
  env,
  locateNamedStack,
  locateStack,
  locationOptions,
  pickEnvironment,
  pickProjectLocation,
  pickStackLocation,
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

const project = optionalArgument("project", "Its name under the projects root, or its path.", "project")

interface ActionInput {
  readonly json: boolean
  readonly noWait: boolean
}

/** Runs a stack action and prints its outcome, or only starts it. */
const runStackAction = (action: StackAction, call: Call<StackResult>, { json, noWait }: ActionInput) =>
  Effect.gen(function*() {
    const { print, say } = yield* Screen
    if (noWait) return yield* Effect.as(startWithoutWaiting(call, json), exitCodes.done)
    const { body, next, value } = yield* followRun(call)
    if (json) yield* print(body)
    yield* say(
      [
        ...value.message.split("\n").map(escapeInline),
        ...formatRemains(value.stays ?? []),
        ...json ? [] : next
      ].join("\n")
    )
    return verdictCode[computeRunVerdict({ kind: "stack", subject: { action } }, value)]
  })

const startCommand = defineServiceCommand(
  { name: "start", summary: "Start a project's stack.", examples: ["berth start hello"] },
  { project, noWait: noWaitOption, confirm: confirmOption, ...locationOptions },
  Effect.fnUntraced(function*(input) {
    if (input.noWait) yield* requireService
    const place = yield* locateNamedStack(input.project, input)
    // Asks only for a protected environment.
    const confirmed = yield* confirmChange(
      `Start the stack at ${describeLocation(place)}?`,
      { ...input, yes: true },
      place
    )
    if (Option.isNone(confirmed)) return exitCodes.failed
    const payload = { ...pickStackLocation(place), ...confirmed.value }
    return yield* runStackAction("start", (api) => api.startStack({ payload }), input)
  })
)

const confirmedAction = (
  name: "stop" | "restart",
  summary: string,
  question: (place: string) => string,
  call: (payload: StackRequest) => Call<StackResult>
) =>
  defineServiceCommand(
    { name, summary, examples: [`berth ${name} hello`] },
    { project, yes, noWait: noWaitOption, confirm: confirmOption, ...locationOptions },
    Effect.fnUntraced(function*(input) {
      if (input.noWait) yield* requireService
      const place = yield* locateNamedStack(input.project, input)
      const confirmed = yield* confirmChange(question(describeLocation(place)), input, place)
      if (Option.isNone(confirmed)) return exitCodes.failed
      return yield* runStackAction(name, call({ ...pickStackLocation(place), ...confirmed.value }), input)
    })
  )

const stopCommand = confirmedAction(
  "stop",
  "Stop a project's stack; its containers and data stay.",
  (place) => `Stop the stack at ${place}?`,
  (payload) => (api) => api.stopStack({ payload })
)

const restartCommand = confirmedAction(
  "restart",
  "Restart a project's stack.",
  (place) => `Restart the stack at ${place}?`,
  (payload) => (api) => api.restartStack({ payload })
)

const removeCommand = defineServiceCommand(
  {
    name: "remove",
    summary: "Remove a project's stack from its server: its containers, and Berth's files and images.",
    details:
      "Shows what would be removed, its releases and backups first, and what stays and why; then asks. data/ and volumes stay, " +
      "unless --volumes says otherwise. The project on this machine stays as it is.",
    examples: ["berth remove hello", "berth remove hello --dry-run"]
  },
  {
    project,
    volumes: flagOption("volumes", "Remove its volumes too, with what is in them."),
    dryRun: flagOption("dry-run", "Show what would be removed and what stays, and change nothing."),
    yes,
    noWait: noWaitOption,
    confirm: confirmOption,
    ...locationOptions
  },
  Effect.fnUntraced(function*(input) {
    if (input.noWait) yield* requireService
    const place = yield* locateNamedStack(input.project, input)
    const planned = { payload: { ...pickStackLocation(place), volumes: input.volumes } }
    const { answer } = yield* Berth
    const { print, say } = yield* Screen
    // A list that cannot be read ends the command, since nobody could confirm it; --yes goes without one.
    if (input.dryRun || !input.yes || (place.isProtected && Option.isNone(input.confirm))) {
      const { body, value } = yield* answer((api) => api.planStackRemoval(planned))
      const text = [`Removal of the stack at ${describeLocation(place)}:`, ...formatRemoval(value)].join("\n")
      if (input.dryRun) {
        yield* print(input.json ? body : text)
        return exitCodes.done
      }
      yield* say(text)
    }
    const question = input.volumes
      ? `Remove the stack at ${describeLocation(place)}, and its volumes with all that is in them?`
      : `Remove the stack at ${describeLocation(place)}? Its data/ and volumes stay.`
    const confirmed = yield* confirmChange(question, input, place)
    if (Option.isNone(confirmed)) return exitCodes.failed
    return yield* runStackAction(
      "remove",
      (api) =>
        api.removeStack({ payload: { ...pickStackLocation(place), ...confirmed.value, volumes: input.volumes } }),
      input
    )
  })
)

export const stackActionCommands = [startCommand, stopCommand, restartCommand, removeCommand]
