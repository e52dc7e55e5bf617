import { Effect, Option, pipe, Schema } from "effect"
import { Platform } from "../../services/platform/Platform.ts"
import type { StepOutcome } from "../../services/runs/Steps.ts"
import { changelogStep } from "./changelog.ts"
import { hostPortStep } from "./hostPort.ts"
import { recordStep } from "./record.ts"
import { routeStep } from "./route.ts"
import {
  andThen,
  type Checked,
  decideWill,
  describe,
  describeState,
  describeUpdates,
  makeStep,
  type Recorded
} from "./step.ts"
import { webhookStep } from "./webhook.ts"

/** Upsert step 4: names the changes of the build. */
const validateStep = makeStep("validate", {
  plan: ({ app, changes }) =>
    Effect.succeed({ part: describe({ will: "nothing", detail: describeUpdates(Option.isNone(app), changes) }) }),
  apply: (state: Checked, { stage }) =>
    Effect.as(
      stage(Schema.Void, () => Effect.void, () => describeUpdates(Option.isNone(state.found), state.changes)),
      state
    )
})

const StoredDeployment = Schema.Struct({ notQueued: Schema.OptionFromNullOr(Schema.String) })

/** Upsert step 9. Every upsert requests a deployment, which counts as a change only if something else changes. */
const deployStep = makeStep("deploy", {
  plan: ({ parts }) => {
    const isNew = parts.some(({ changes }) => changes.some(({ target }) => target !== "changelog"))
    const changes = isNew
      ? [{ target: "deployment" as const, field: "deployment", label: "Deployment", old: null, new: "requested" }]
      : []
    return Effect.succeed({
      part: describe({
        will: decideWill(changes),
        detail: isNew
          ? "the platform is asked to deploy"
          : "nothing new to deploy: the platform is asked to deploy again, as by every upsert",
        changes,
        writes: ["deploy"]
      })
    })
  },
  apply: (state: Recorded, { stage }) =>
    Effect.as(
      stage(
        StoredDeployment,
        () => Effect.flatMap(Platform, (platform) => platform.deploy(state.uuid)),
        ({ notQueued }) =>
          Option.match(notQueued, {
            onNone: (): string | StepOutcome => "the platform was asked to deploy",
            onSome: (why) => ({ status: "skipped", detail: `the platform queued no deployment: ${why}` })
          }),
        describeState(state)
      ),
      state
    )
})

/** Steps of an upsert once its inputs are read, in the order of the specification. */
export const upsertSteps = pipe(
  validateStep,
  andThen(recordStep),
  andThen(hostPortStep),
  andThen(routeStep),
  andThen(changelogStep),
  andThen(deployStep),
  andThen(webhookStep)
)
