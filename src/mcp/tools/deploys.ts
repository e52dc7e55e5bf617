import { Effect, Option, Schema } from "effect"
import { Berth } from "../../client/Berth.ts"
import { BerthError } from "../../client/BerthError.ts"
import { CompareRequest, Comparison } from "../../schema/compare.ts"
import { ContainerPlan, ContainerPlanRequest, PullPolicy } from "../../schema/deploys.ts"
import { ReleaseComparison } from "../../schema/releases.ts"
import { PlannedTarget, TargetsPlan, TargetsPlanHash } from "../../schema/targets.ts"
import { field, RemotePathText, serverId } from "../../schema/validation.ts"
import { awaitRunOutcome, defineTool, omitNull, RunBrief } from "../answers.ts"

const planned = {
  projectPath: ContainerPlanRequest.fields.projectPath,
  environment: Schema.optional(Schema.String),
  serverId: Schema.optional(Schema.String).annotations({
    description: "A stored server, by id or name; by default that of container.json."
  }),
  remotePath: Schema.optional(Schema.String).annotations({
    description: "The directory there; by default that of container.json."
  }),
  // Shorter than for the endpoint, since two tools repeat it.
  pull: Schema.optional(PullPolicy).annotations({
    description: "Images that the server pulls."
  }),
  onUnhealthy: omitNull(ContainerPlanRequest.fields.onUnhealthy)
}

const applied = "Waits up to 45 seconds; get_run tells the end of a longer run."

interface Wanted extends Pick<ContainerPlanRequest, "environment" | "onUnhealthy" | "projectPath" | "pull"> {
  readonly serverId?: string | undefined
  readonly remotePath?: string | undefined
}

/**
 * Request for the location that an agent names; none without a remote path, which means the targets of container.json.
 * A remote path needs a server.
 */
const placeIn = (
  { remotePath, serverId, ...wanted }: Wanted
): Effect.Effect<Option.Option<ContainerPlanRequest>, BerthError> =>
  remotePath === undefined
    ? Effect.succeedNone
    : serverId === undefined
    ? new BerthError({
      reason: "refused",
      status: 400,
      message: "remotePath needs serverId beside it: nothing was done"
    })
    : Effect.succeedSome({ ...wanted, serverId, remotePath })

/** Request for the targets of container.json, or for those on one server. */
const targetsIn = ({ environment, onUnhealthy, projectPath, pull, serverId }: Wanted) => ({
  projectPath,
  environment,
  pull,
  onUnhealthy,
  ...serverId === undefined ? {} : { servers: [serverId] }
})

/** A plan for one place, or one for each target. */
const Planned = Schema.extend(
  Schema.partialWith(ContainerPlan.omit("planHash", "programs", "hooks"), { exact: true }),
  Schema.Struct({
    // Without their schemas, which every session would pay for.
    hooks: Schema.optionalWith(Schema.Unknown, { exact: true }),
    programs: Schema.optionalWith(Schema.Unknown, { exact: true }),
    planHash: TargetsPlan.fields.planHash,
    parallel: Schema.optionalWith(TargetsPlan.fields.parallel, { exact: true }),
    targets: Schema.optionalWith(
      Schema.Array(Schema.Struct({ ...PlannedTarget.fields, plan: Schema.Unknown })),
      { exact: true }
    )
  })
)

export const planDeploy = defineTool({
  name: "plan_deploy",
  title: "Plan a deploy",
  description:
    "Plans a deploy to a server, or to each target of container.json: what it would send, start, replace and remove, and " +
    "what would stop it. Changes nothing; apply_deploy needs its planHash.",
  readOnly: true,
  input: Schema.Struct(planned),
  output: Planned,
  call: (wanted) =>
    Effect.gen(function*() {
      const { use } = yield* Berth
      const place = yield* placeIn(wanted)
      return Option.isSome(place)
        ? yield* use((api) => api.containerPlan({ payload: place.value }))
        : yield* use((api) => api.planTargets({ payload: targetsIn(wanted) }))
    })
})

export const applyDeploy = defineTool({
  name: "apply_deploy",
  title: "Deploy as planned",
  description: `Deploys exactly as plan_deploy said; where something has moved since, nothing is changed. ${applied}`,
  readOnly: false,
  input: Schema.Struct({
    ...planned,
    planHash: TargetsPlanHash.annotations({ description: "The planHash that plan_deploy answered." })
  }),
  output: RunBrief,
  call: ({ planHash, ...wanted }, heard) =>
    Effect.flatMap(
      placeIn(wanted),
      Option.match({
        onSome: (place) => awaitRunOutcome((api) => api.deploy({ payload: { ...place, planHash } }), heard),
        onNone: () =>
          awaitRunOutcome((api) => api.deployTargets({ payload: { ...targetsIn(wanted), planHash } }), heard)
      })
    )
})

export const rollback = defineTool({
  name: "rollback",
  title: "Roll a stack back",
  description:
    "Runs a release again that the server keeps, with its files and images. One that is not kept is refused with the " +
    "ids of those that are, and nothing is changed.",
  readOnly: false,
  input: Schema.Struct({
    // Data is brought back, and protected environments are changed, by people alone.
    serverId,
    remotePath: RemotePathText,
    release: Schema.NonEmptyString.annotations({ description: "The id of the release to run." })
  }),
  output: RunBrief,
  call: (payload, heard) => awaitRunOutcome((api) => api.rollback({ payload }), heard)
})

/** A release that is compared; the comparison lists its images and files. */
const Compared = ReleaseComparison.fields.from.pick("id", "at", "by")

export const compare = defineTool({
  name: "compare",
  title: "Compare with what is deployed",
  description:
    "A project beside its deployed copy, with diffs of small text files and names of variables that differ. " +
    "Never shows the value of a variable. With from and to it compares two releases too.",
  readOnly: true,
  input: Schema.Struct({
    projectPath: CompareRequest.fields.projectPath,
    environment: Schema.optional(Schema.String),
    serverId: planned.serverId,
    remotePath: planned.remotePath,
    from: Schema.optional(Schema.String).annotations({ description: "The id of a release to compare with another." }),
    to: Schema.optional(Schema.String).annotations({ description: "The id of the other; by default the current one." })
  }),
  output: Schema.Struct({
    ...Comparison.fields,
    releases: Schema.optionalWith(Schema.Struct({ ...ReleaseComparison.fields, from: Compared, to: Compared }), {
      exact: true
    })
  }),
  call: ({ from, to, ...payload }) =>
    Effect.gen(function*() {
      const { use } = yield* Berth
      const comparison = yield* use((api) => api.compareProject({ payload }))
      if (from === undefined) return comparison
      const { remotePath, serverId: id } = comparison
      const releases = yield* use((api) =>
        api.compareReleases({ path: { id }, urlParams: { remotePath, from, ...to === undefined ? {} : { to } } })
      )
      return { ...comparison, releases }
    })
})

// Short, since every session pays for them.
const Items = Schema.Array(Schema.Struct({ name: Schema.String, bytes: Schema.Number }))
const remotePath = field(RemotePathText, "The directory of the stack on the server.")

export const listBackups = defineTool({
  name: "list_backups",
  title: "List backups",
  description: "The whole backups of a stack on its server, newest first.",
  readOnly: true,
  input: Schema.Struct({ serverId, remotePath }),
  output: Schema.Struct({
    backups: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        release: Schema.NullOr(Schema.String),
        takenAt: Schema.String,
        items: Items
      })
    )
  }),
  call: ({ remotePath, serverId: id }) =>
    Effect.flatMap(Berth, ({ use }) => use((api) => api.listBackups({ path: { id }, urlParams: { remotePath } })))
})

export const planRestore = defineTool({
  name: "plan_restore",
  title: "Plan a restore",
  description:
    "What a restore of a backup would put back, stop and lose. Changes nothing; only a person restores: berth restore.",
  readOnly: true,
  input: Schema.Struct({ serverId, remotePath, backup: Schema.String }),
  output: Schema.Struct({
    stops: Schema.Array(Schema.String),
    items: Items,
    lost: Schema.Struct({ since: Schema.String, releases: Schema.Array(Schema.String) }),
    warnings: Schema.Array(Schema.String)
  }),
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.planRestore({ payload })))
})
