import { Effect, Schema } from "effect"
import { Berth } from "../../client/Berth.ts"
import { PlanHash } from "../../schema/basics/planHash.ts"
import { ContainerPlan } from "../../schema/deploy/ContainerPlan.ts"
import { ContainerPlanRequest, RollbackRequest } from "../../schema/deploy/Deploy.ts"
import { ReleaseComparison } from "../../schema/deploy/ReleaseComparison.ts"
import { CompareRequest, Comparison } from "../../schema/projects/Compare.ts"
import { RunBrief, runOutcome } from "../answers/runOutcome.ts"
import { tool } from "../answers/Tool.ts"
import { withoutNull } from "../answers/withoutNull.ts"

const planned = {
  ...ContainerPlanRequest.fields,
  pull: withoutNull(ContainerPlanRequest.fields.pull),
  onUnhealthy: withoutNull(ContainerPlanRequest.fields.onUnhealthy)
}

const applied = "Waits up to 45 seconds; a longer run goes on, and get_run tells its end."

export const planDeploy = tool({
  name: "plan_deploy",
  title: "Plan a deploy",
  description:
    "Plans a deploy of a project to a server: what it would send, start, replace and remove now, and what it would " +
    "stop at. Changes nothing; its planHash is what apply_deploy needs.",
  readOnly: true,
  input: Schema.Struct(planned),
  output: ContainerPlan,
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.containerPlan({ payload })))
})

export const applyDeploy = tool({
  name: "apply_deploy",
  title: "Deploy as planned",
  description:
    "Deploys a project exactly as plan_deploy said; where something has moved since, nothing is changed and " +
    `the answer says what moved. ${applied}`,
  readOnly: false,
  input: Schema.Struct({
    ...planned,
    planHash: PlanHash.annotations({ description: "The planHash that plan_deploy answered." })
  }),
  output: RunBrief,
  call: (payload, heard) => runOutcome((api) => api.deploy({ payload }), heard)
})

export const rollback = tool({
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
  call: (payload, heard) => runOutcome((api) => api.rollback({ payload }), heard)
})

export const compare = tool({
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
