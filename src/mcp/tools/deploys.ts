import { Effect, Option, Schema } from "effect"
import { Berth } from "../../client/Berth.ts"
import { BerthError } from "../../client/BerthError.ts"
import { ContainerPlan } from "../../schema/deploy/ContainerPlan.ts"
import { ContainerPlanRequest, RollbackRequest } from "../../schema/deploy/Deploy.ts"
import { ReleaseComparison } from "../../schema/deploy/ReleaseComparison.ts"
import { CompareRequest, Comparison } from "../../schema/projects/Compare.ts"
import { PlannedTarget, TargetsPlan, TargetsPlanHash } from "../../schema/targets/Targets.ts"
import { omitNull } from "../answers/omitNull.ts"
import { awaitRunOutcome, RunBrief } from "../answers/runOutcome.ts"
import { defineTool } from "../answers/Tool.ts"

const planned = {
  projectPath: ContainerPlanRequest.fields.projectPath,
  serverId: Schema.optional(Schema.String).annotations({
    description:
      "The id or the name of a stored server; without it the project is deployed to what its container.json names."
  }),
  remotePath: Schema.optional(Schema.String).annotations({
    description: "The directory on that server; without it that of the target of container.json that is on it."
  }),
  pull: omitNull(ContainerPlanRequest.fields.pull),
  onUnhealthy: omitNull(ContainerPlanRequest.fields.onUnhealthy)
}

const applied = "Waits up to 45 seconds; a longer run goes on, and get_run tells its end."

interface Wanted extends Pick<ContainerPlanRequest, "onUnhealthy" | "projectPath" | "pull"> {
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
const targetsIn = ({ onUnhealthy, projectPath, pull, serverId }: Wanted) => ({
  projectPath,
  pull,
  onUnhealthy,
  ...serverId === undefined ? {} : { servers: [serverId] }
})

/** A plan for one place, or one for each target. */
const Planned = Schema.extend(
  Schema.partialWith(ContainerPlan.omit("planHash"), { exact: true }),
  Schema.Struct({
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
    "Plans a deploy of a project to a server, or to each target of its container.json: what it would send, start, replace and " +
    "remove now, and what it would stop at. Changes nothing; its planHash is what apply_deploy needs.",
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
  description:
    "Deploys a project exactly as plan_deploy said; where something has moved since, nothing is changed and " +
    `the answer says what moved. ${applied}`,
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
    "Runs a release again that the server keeps, with its files and images; nothing of the project is needed. " +
    "A release that is not kept is refused with the ids of those that are, and nothing is changed.",
  readOnly: false,
  input: Schema.Struct({
    ...RollbackRequest.fields,
    release: Schema.NonEmptyString.annotations({ description: "The id of the release to run." })
  }),
  output: RunBrief,
  call: (payload, heard) => awaitRunOutcome((api) => api.rollback({ payload }), heard)
})

export const compare = defineTool({
  name: "compare",
  title: "Compare with what is deployed",
  description:
    "A project beside its deployed copy, file by file, with diffs of small text files and the names of the " +
    "variables that differ. Never shows the value of a variable. With from and to it compares two releases too.",
  readOnly: true,
  input: Schema.Struct({
    ...CompareRequest.fields,
    from: Schema.optional(Schema.String).annotations({ description: "The id of a release to compare with another." }),
    to: Schema.optional(Schema.String).annotations({ description: "The id of the other; by default the current one." })
  }),
  output: Schema.Struct({
    ...Comparison.fields,
    releases: Schema.optionalWith(ReleaseComparison, { exact: true })
  }),
  call: ({ from, to, ...payload }) =>
    Effect.gen(function*() {
      const { use } = yield* Berth
      const comparison = yield* use((api) => api.compareProject({ payload }))
      if (from === undefined) return comparison
      const { remotePath, serverId: id } = payload
      const releases = yield* use((api) =>
        api.compareReleases({ path: { id }, urlParams: { remotePath, from, ...to === undefined ? {} : { to } } })
      )
      return { ...comparison, releases }
    })
})
