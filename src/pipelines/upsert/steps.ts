import { DateTime, Effect, Either, Option, pipe, Schema } from "effect"
import { type Change, ChangelogEntry, changelogFileName } from "../../schema/upsert.ts"
import { redactJson } from "../../services/masking.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { computeOnce, type StepOutcome } from "../../services/runs/Steps.ts"
import { secretsInUse } from "../../services/settings/Settings.ts"
import { appendChangelog, isChangelogValid } from "../applications/changelog.ts"
import { hostPortStep } from "./hostPort.ts"
import { recordStep } from "./record.ts"
import { routeStep } from "./route.ts"
import {
  andThen,
  type Checked,
  decideWill,
  describe,
  describeChanges,
  describeState,
  describeStop,
  describeUpdates,
  makeStep,
  type Recorded,
  type Seen,
  type Synced
} from "./step.ts"
import { webhookStep } from "./webhook.ts"

const describeEntry = (changes: string) => `${changelogFileName}: ${changes}`

const planChangelog = Effect.fn("planChangelog")(function*({ changes, projectPath }: Seen) {
  const isSound = yield* Effect.either(isChangelogValid(projectPath))
  if (Either.isLeft(isSound)) return { part: describeStop(isSound.left.message) }
  const entry = `an entry with ${describeChanges(changes)}`
  const planned = changes.length === 0
    ? []
    : [{ target: "changelog" as const, field: changelogFileName, label: "Changelog", old: null, new: entry }]
  return {
    part: describe({
      will: decideWill(planned),
      detail: describeEntry(entry),
      changes: planned,
      writes: ["changelog"],
      warnings: isSound.right
        ? []
        : [`${changelogFileName} is not a JSON array: it is kept beside as .corrupt, and a new one is begun`]
    })
  }
})

/** Masks secrets in changes: a repository's address may contain a token. */
export const maskChanges = (changes: ReadonlyArray<Change>) =>
  Effect.map(secretsInUse, (secrets) =>
    changes.map((change): Change => ({
      ...change,
      old: redactJson(change.old, secrets),
      new: redactJson(change.new, secrets)
    })))

/** Upsert step 8. Every upsert appends an entry, which counts as a change only if it describes one. */
const changelogStep = makeStep("changelog", {
  plan: planChangelog,
  apply: (state: Synced, { stage }) =>
    Effect.gen(function*() {
      const { found, plan, projectPath, uuid } = state
      const changes = yield* maskChanges(state.changes)
      // Stored, so that a repeated append recognizes its entry.
      const changelogEntry = yield* computeOnce("changelog entry", ChangelogEntry, () =>
        Effect.map(DateTime.now, (now) => ({
          timestamp: DateTime.formatIso(now),
          action: Option.isNone(found) ? "create" as const : "update" as const,
          appName: plan.name,
          uuid,
          changes,
          configSnapshot: plan.raw
        })))
      yield* stage(
        Schema.Void,
        (isRepeated) =>
          appendChangelog(projectPath, changelogEntry, isRepeated),
        () =>
          describeEntry(describeChanges(changelogEntry.changes)),
        describeState(state)
      )
      return { ...state, changelogEntry } satisfies Recorded
    })
})

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
