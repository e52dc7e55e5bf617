import { Schema } from "effect"
import { ContainerPlan, ContainerPlanRequest } from "./deploys.ts"
import { confirmField, environmentField, plannedEnvironment } from "./environments.ts"
import { type LocalProject, mostTargets, type ProjectTarget } from "./projects.ts"
import type { Run } from "./runs.ts"
import {
  field,
  flag,
  number,
  projectPath,
  serverId,
  storedServerId,
  strictBody,
  text,
  textOrNull
} from "./validation.ts"
import { cut, formatList, quoteInput } from "./words.ts"

/** Number of targets that a parallel deploy works on concurrently. */
export const targetsAtOnce = 4

const hashOfTargets = "must be the planHash of a plan, as it was answered"

/** Hashes of the targets' plans, in the order of the targets, joined by dots. */
export const TargetsPlanHash = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9_-]{20,1000}(\.[A-Za-z0-9_-]{20,1000}){0,31}$/, { message: () => hashOfTargets })
)

const wanted = {
  projectPath,
  ...environmentField,
  servers: Schema.optional(
    Schema.NullOr(Schema.Array(serverId).pipe(Schema.minItems(1), Schema.maxItems(mostTargets)))
  ).annotations({
    description: "Servers of its targets, by id or name; all of them when absent.",
    examples: [["web-1", "web-2"]]
  }),
  pull: ContainerPlanRequest.fields.pull,
  onUnhealthy: ContainerPlanRequest.fields.onUnhealthy
}

/** Project of a planned deploy to its targets. */
export const TargetsPlanRequest = Schema.Struct({
  ...wanted,
  noSecrets: ContainerPlanRequest.fields.noSecrets
}).annotations({
  identifier: "TargetsPlanRequest",
  ...strictBody
})
export interface TargetsPlanRequest extends Schema.Schema.Type<typeof TargetsPlanRequest> {}

/** Project to deploy to its targets, and the plan that binds it. */
export const TargetsDeployRequest = Schema.Struct({
  ...wanted,
  ...confirmField,
  parallel: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: `True to deploy to up to ${targetsAtOnce} of them at once; container.json says when absent.`
  }),
  planHash: Schema.optional(Schema.NullOr(TargetsPlanHash)).annotations({
    description:
      "The planHash of a plan of the same targets: where something has moved since, no server is changed and the answer is a 409."
  })
}).annotations({ identifier: "TargetsDeployRequest", ...strictBody })
export interface TargetsDeployRequest extends Schema.Schema.Type<typeof TargetsDeployRequest> {}

const place = {
  server: text("The name of the server; its id where several have the name.", "web-1"),
  serverId: storedServerId,
  remotePath: text("The directory of the stack on the server.", "~/containers/hello")
}

/** Plan of a deploy to one target. */
export const PlannedTarget = Schema.Struct({
  ...place,
  plan: field(Schema.NullOr(ContainerPlan), "What a deploy would do there; null where its server cannot tell."),
  error: textOrNull("Why it cannot be planned; null where it can.")
}).annotations({ identifier: "PlannedTarget" })
export interface PlannedTarget extends Schema.Schema.Type<typeof PlannedTarget> {}

/** Plan of a deploy to the targets of a project. */
export const TargetsPlan = Schema.Struct({
  projectPath,
  ...plannedEnvironment,
  parallel: flag("True when container.json wants them deployed at once."),
  targets: Schema.Array(PlannedTarget).annotations({ description: "The targets, in the order of their deploys." }),
  planHash: textOrNull(
    "Sent with a deploy of the same targets, it holds the deploy to this plan; null where one of them cannot be planned."
  )
}).annotations({ identifier: "TargetsPlan" })
export interface TargetsPlan extends Schema.Schema.Type<typeof TargetsPlan> {}

/** End of the deploy to one target. */
const TargetOutcome = Schema.Literal("deployed", "unhealthy", "rolledBack", "failed", "cancelled", "notTried")
type TargetOutcome = typeof TargetOutcome.Type

/** Target with its outcome. */
export const DeployedTarget = Schema.Struct({
  ...place,
  runId: textOrNull("The run of its deploy; null where none was started.", "01m80yqq5mpfzvahn1sfvx7mvm"),
  outcome: TargetOutcome.annotations({
    description:
      "`deployed`: the new version runs. `unhealthy`: it runs and is not healthy. `rolledBack`: it was not healthy, and the " +
      "release before runs again. `notTried`: another target failed before its turn."
  }),
  message: text("What its deploy said.")
}).annotations({ identifier: "DeployedTarget" })
export interface DeployedTarget extends Schema.Schema.Type<typeof DeployedTarget> {}

/** The outcome of a deploy to the targets of a project. */
export const TargetsResult = Schema.Struct({
  success: flag("True when every target runs the new version."),
  healthy: flag("True when it is healthy on each of them."),
  deployed: number("Number of targets that run the new version.", 2),
  targets: Schema.Array(DeployedTarget).annotations({ description: "The targets, in the order of their deploys." }),
  message: text("Which servers run the new version, and what stopped the others.")
}).annotations({ identifier: "TargetsResult" })
export interface TargetsResult extends Schema.Schema.Type<typeof TargetsResult> {}

/** The project has no target on the requested server. */
export class TargetUnknown extends Schema.TaggedError<TargetUnknown>()("TargetUnknown", {
  project: Schema.String,
  server: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  readonly status = 422
  override get message() {
    return `${quoteInput(this.server)} is not a server of the targets of ${quoteInput(this.project)}: they are on ` +
      formatList(this.known.map(cut), "and")
  }
}

/** Deploy to one target, started by another run as a run of its own. */
interface BegunDeploy {
  readonly id: string
  /** Label of the target in the steps of the run. */
  readonly label: string
}

/** Deploys that a run has started, in the order of their first steps. */
export const listBegunDeploys = ({ steps }: Pick<Run, "steps">): ReadonlyArray<BegunDeploy> => {
  const labels = new Map(
    steps.flatMap(({ run, step }) => run === undefined ? [] : [[run, step.slice(0, step.lastIndexOf(": "))] as const])
  )
  return [...labels].map(([id, label]) => ({ id, label }))
}

/** Labels of the outcomes. */
export const outcomeWords: Readonly<Record<TargetOutcome, string>> = {
  deployed: "deployed",
  unhealthy: "deployed, not healthy",
  rolledBack: "rolled back",
  failed: "failed",
  cancelled: "cancelled",
  notTried: "not tried"
}

/** A place that a project is deployed to, with the environment that it is. */
export interface DeployPlace extends ProjectTarget {
  readonly environment?: string
}

type PlacedProject = Pick<LocalProject, "environment" | "environments" | "remotePath" | "serverId" | "targets">

/** True if two places are the same, as they are written. */
const isSamePlace = (one: ProjectTarget, other: ProjectTarget): boolean =>
  one.serverId === other.serverId && one.remotePath === other.remotePath

/** Places that a project is deployed to, in their order: those of the file, then those of its environments. */
export const listDeployPlaces = (
  { environment, environments = [], remotePath, serverId, targets }: PlacedProject
): ReadonlyArray<DeployPlace> => {
  const named = environments.flatMap(({ name, targets }) =>
    targets.map((place): DeployPlace => ({ ...place, environment: name }))
  )
  const own = environment !== undefined
    ? []
    : targets ?? (serverId === null ? [] : [{ serverId, remotePath }])
  return [...own.filter((place) => !named.some((other) => isSamePlace(other, place))), ...named]
}

/** Narrows a project to one of its places, with the targets of the environment that it is. */
export const narrowToPlace = (project: LocalProject, place: DeployPlace): LocalProject => {
  const { environment, remotePath, serverId } = place
  if (environment === undefined) return { ...project, serverId, remotePath }
  const { targets: _, ...others } = project
  const among = project.environments?.find(({ name }) => name === environment)?.targets ?? []
  return { ...others, serverId, remotePath, environment, ...among.length > 1 ? { targets: among } : {} }
}

/** Name of the protected environment that a place of a project is; undefined for any other place. */
export const findProtectedEnvironment = (
  { environments = [] }: Pick<LocalProject, "environments">,
  place: ProjectTarget
): string | undefined =>
  environments.find((each) => each.protected === true && each.targets.some((target) => isSamePlace(target, place)))
    ?.name
