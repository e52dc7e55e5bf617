import { Path } from "@effect/platform"
import { Effect, Option, Predicate, Schema } from "effect"
import { OnUnhealthy, PullPolicy } from "../../schema/deploys.ts"
import { withEnvironment } from "../../schema/environments.ts"
import { containerConfigName, ProjectFileInvalid, ProjectWithoutServer } from "../../schema/projects.ts"
import { computeRunVerdict, findFinalMessage, type Run } from "../../schema/runs.ts"
import { findServer, formatServerReference, parseRemotePath } from "../../schema/servers.ts"
import {
  type DeployedTarget,
  type PlannedTarget,
  targetsAtOnce,
  type TargetsPlan,
  type TargetsPlanRequest,
  TargetsResult,
  TargetUnknown
} from "../../schema/targets.ts"
import { formatList, pluralize, quoteInput } from "../../schema/words.ts"
import { makeTargetsLock } from "../../services/locks/Locks.ts"
import type { RunSpec } from "../../services/runs/Runs.ts"
import { scrubSecrets, Settings } from "../../services/settings/Settings.ts"
import { planContainers } from "../deploy/plan.ts"
import { listConfiguredPlaces, readContainerConfig, resolveEnvironment } from "../projects/files.ts"
import { checkUnnamed, describeEnvironment, findProtection } from "../projects/places.ts"
import { resolveProjectDirectory } from "../projects/trust.ts"
import { shareSecrets } from "../secrets/deploySecrets.ts"

/** Recorded request, which lets another process continue the run even if `container.json` has changed since. */
export const TargetsRun = Schema.Struct({
  projectPath: Schema.String,
  targets: Schema.Array(Schema.Struct({
    server: Schema.String,
    serverId: Schema.String,
    remotePath: Schema.String,
    planHash: Schema.NullOr(Schema.String)
  })),
  parallel: Schema.Boolean,
  environment: Schema.optional(Schema.String),
  pull: Schema.NullOr(PullPolicy),
  onUnhealthy: Schema.NullOr(OnUnhealthy),
  /** True for the user of the machine, who needs no trust in the project; a run that is continued keeps its caller. */
  isLocal: Schema.optionalWith(Schema.Boolean, { default: () => false })
})
export interface TargetsRun extends Schema.Schema.Type<typeof TargetsRun> {}
export type RunTarget = TargetsRun["targets"][number]

/** Specification of the run of a deploy to several targets, apart from its program. */
export const buildTargetsSpec = (request: TargetsRun): RunSpec<TargetsResult, typeof TargetsResult.Encoded> => ({
  kind: "deploy-all",
  key: makeTargetsLock(request.projectPath),
  subject: {
    projectPath: request.projectPath,
    ...withEnvironment(request)
  },
  request,
  result: TargetsResult,
  afterRestart: "resume"
})

/** Labels of targets in steps and sentences: the server, with the directory if it has several targets. */
export const formatTargetLabels = (
  targets: ReadonlyArray<Pick<RunTarget, "remotePath" | "server" | "serverId">>
): ReadonlyArray<string> =>
  targets.map(({ remotePath, server, serverId }) =>
    targets.filter((other) => other.serverId === serverId).length > 1 ? `${server} ${remotePath}` : server
  )

type Outcome = Pick<DeployedTarget, "message" | "outcome">

const unknown: Outcome = {
  outcome: "failed",
  message: "The record of its run is gone: the list of its containers shows what runs"
}

const hasRolledBack = ({ steps }: Run): boolean =>
  steps.some(({ status, step }) => step === "rollback" && (status === "done" || status === "warn"))

/** Derives the outcome of a target from the ended run of its deploy. */
export const readTargetOutcome = (ended: Option.Option<Run>): Outcome => {
  if (Option.isNone(ended)) return unknown
  const run = ended.value
  const message = findFinalMessage(run) ?? ""
  if (run.state === "succeeded") return { outcome: "deployed", message }
  if (run.state === "cancelled") return { outcome: "cancelled", message }
  if (Predicate.isNullable(run.result)) return { outcome: "failed", message }
  if (computeRunVerdict(run, run.result) === "unhealthy") return { outcome: "unhealthy", message }
  return { outcome: hasRolledBack(run) ? "rolledBack" : "failed", message }
}

/** Outcome of a target that was not reached. */
export const notTried: Outcome = { outcome: "notTried", message: "Not tried: what ran before runs on" }

const runsNew = ({ outcome }: DeployedTarget) => outcome === "deployed" || outcome === "unhealthy"

const firstLine = (message: string) => message.split("\n")[0] ?? ""

/** Describes which targets run the new version, and why the others do not. */
const describe = (targets: ReadonlyArray<DeployedTarget>): string => {
  const labels = formatTargetLabels(targets)
  const named = targets.map((target, index) => ({ ...target, label: labels[index] ?? target.server }))
  const done = named.filter(runsNew)
  const skipped = named.filter(({ outcome }) => outcome === "notTried").map(({ label }) => label)
  const told = named.filter(({ outcome }) => outcome !== "deployed" && outcome !== "notTried")
  const verb = done.length === 1 ? "runs" : "run"
  const count = pluralize(targets.length, "server")
  return [
    done.length === 0
      ? `None of ${count} runs the new version.`
      : `${done.length} of ${count} ${verb} the new version: ${done.map(({ label }) => label).join(", ")}.`,
    ...told.map(({ label, message }) => `${label}: ${firstLine(message).replace(/\.$/, "")}.`),
    ...skipped.length === 0 ? [] : [
      `${formatList(skipped, "and")} ${skipped.length === 1 ? "was" : "were"} not tried: what ran there before runs on.`
    ]
  ].join(" ")
}

/** Result of a deploy to several targets. */
export const describeTargets = (targets: ReadonlyArray<DeployedTarget>): TargetsResult => {
  const deployed = targets.filter(runsNew).length
  return {
    success: deployed === targets.length,
    healthy: targets.every(({ outcome }) => outcome === "deployed"),
    deployed,
    targets,
    message: describe(targets)
  }
}

/** A place that a project is deployed to. */
interface ResolvedTarget {
  /** Name of the server, or its id if several servers have this name. */
  readonly server: string
  readonly serverId: string
  readonly remotePath: string
}

const keyOf = ({ remotePath, serverId }: ResolvedTarget) => JSON.stringify([serverId, remotePath])

/**
 * Targets of a project in the order of its `container.json`, or its only place.
 * @param wanted servers of the requested targets, by id or name; all targets if omitted
 */
export const listProjectTargets = Effect.fn("listProjectTargets")(function*(
  directory: string,
  environment: string | null | undefined,
  wanted?: ReadonlyArray<string> | null
) {
  const path = yield* Path.Path
  const name = path.basename(directory)
  const written = yield* readContainerConfig(directory)
  const config = yield* resolveEnvironment(written, environment, name)
  const stored = yield* (yield* Settings).servers
  const places = listConfiguredPlaces(config, name)
  if (places.length === 0) return yield* new ProjectWithoutServer({ name })
  const targets = yield* Effect.forEach(places, ({ remotePath, serverId }) =>
    Effect.gen(function*() {
      const server = yield* findServer(stored, serverId)
      return {
        server: formatServerReference(stored, server),
        serverId: server.id,
        remotePath: yield* parseRemotePath("remotePath", remotePath)
      } satisfies ResolvedTarget
    }))
  const twice = targets.find((target, index) => targets.slice(0, index).some((other) => keyOf(other) === keyOf(target)))
  if (twice !== undefined) {
    const reason = `targets names ${quoteInput(twice.remotePath)} on ${quoteInput(twice.server)} twice`
    return yield* new ProjectFileInvalid({ file: path.join(directory, containerConfigName), reason })
  }
  if (!Predicate.isNotNullable(environment)) {
    yield* Effect.forEach(targets, (target) => checkUnnamed(written, name, target, stored), { discard: true })
  }
  const isOwn = Predicate.isNotNullable(environment) && written.environments?.[environment]?.protected === true
  const describe = (targets: ReadonlyArray<ResolvedTarget>) =>
    Effect.map(isOwn ? Effect.succeed({ environment }) : findProtection(targets, stored), (protection) => ({
      isParallel: config.parallel === true,
      environment: environment ?? undefined,
      protection,
      targets
    }))
  if (wanted === undefined || wanted === null) return yield* describe(targets)
  const ids = yield* Effect.forEach(wanted, (server) =>
    Effect.gen(function*() {
      const { id } = yield* findServer(stored, server)
      if (targets.some(({ serverId }) => serverId === id)) return id
      const known = [...new Set(targets.map((target) => target.server))]
      return yield* new TargetUnknown({ project: name, server, known })
    }))
  return yield* describe(targets.filter(({ serverId }) => ids.includes(serverId)))
})

/** Status of errors that concern a single server. */
const serverFailed = 502

const plan = (target: ResolvedTarget, request: TargetsPlanRequest) =>
  planContainers({
    projectPath: request.projectPath,
    environment: request.environment,
    serverId: target.serverId,
    remotePath: target.remotePath,
    pull: request.pull,
    onUnhealthy: request.onUnhealthy,
    noSecrets: request.noSecrets
  }).pipe(
    Effect.map((plan): PlannedTarget => ({ ...target, plan, error: null })),
    // Any other error concerns the project and is the same for every target.
    Effect.catchIf(
      ({ status }) => status === serverFailed,
      ({ message }) => Effect.map(scrubSecrets(message), (error): PlannedTarget => ({ ...target, plan: null, error }))
    )
  )

/**
 * Plans the deploys to the targets of a project, with a hash that binds later deploys to all these plans. Changes
 * nothing.
 */
export const planTargets = Effect.fn("planTargets")(function*(request: TargetsPlanRequest) {
  const directory = yield* resolveProjectDirectory(request.projectPath)
  const found = yield* listProjectTargets(directory, request.environment, request.servers)
  const { isParallel, targets } = found
  const planned = yield* shareSecrets(
    Effect.forEach(targets, (target) => plan(target, request), { concurrency: targetsAtOnce })
  )
  const hashes = planned.flatMap(({ plan }) => plan?.planHash ?? [])
  return {
    projectPath: directory,
    ...describeEnvironment(found),
    parallel: isParallel,
    targets: planned,
    planHash: hashes.length === planned.length ? hashes.join(".") : null
  } satisfies TargetsPlan
})
