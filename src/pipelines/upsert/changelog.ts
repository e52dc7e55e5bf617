import { DateTime, Effect, Either, Option, Schema } from "effect"
import { type Change, ChangelogEntry, changelogFileName } from "../../schema/upsert.ts"
import { redactJson, secretsInUse } from "../../services/masking.ts"
import { computeOnce } from "../../services/runs/Steps.ts"
import { appendChangelog, isChangelogValid } from "../applications/changelog.ts"
import {
  decideWill,
  describe,
  describeChanges,
  describeState,
  describeStop,
  makeStep,
  type Recorded,
  type Seen,
  type Synced
} from "./step.ts"

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
export const changelogStep = makeStep("changelog", {
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
