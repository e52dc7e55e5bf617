import { DateTime, Effect, Option, Schema } from "effect"
import { type Change, ChangelogEntry, changelogFileName } from "../../schema/applications/Changelog.ts"
import type { AppRequest } from "../../schema/applications/Drift.ts"
import { UpsertFailed } from "../../schema/applications/Upsert.ts"
import { platformFileName } from "../../schema/projects/Project.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { computeOnce, executeDurableStep, skipStep, type StepOutcome, Steps } from "../../services/runs/Steps.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { redactJson } from "../../services/secrets/shownText.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { appendChangelog } from "../applications/changelog.ts"
import { makeUnplacedSource, readDeclaredEntry } from "../applications/platformFile.ts"
import { refuseLink } from "../projects/files/ownFiles.ts"
import { applyHostPort } from "./hostPort/applyHostPort.ts"
import { describeChanges, describePlan, describeTarget, listChangelogUpdates } from "./inputs/describeInputs.ts"
import { findLive } from "./inputs/findLive.ts"
import { findPlatformTarget } from "./inputs/findPlatformTarget.ts"
import { readPlan } from "./inputs/readPlan.ts"
import type { PlatformTarget } from "./inputs/target.ts"
import type { Decisions, PlanBinding } from "./PlanBinding.ts"
import { applyRecord } from "./record/applyRecord.ts"
import { applyRoute, type RouteOutcome } from "./route/applyRoute.ts"
import { recordIntent } from "./steps/intent.ts"
import { matchesPlan } from "./steps/matchesPlan.ts"
import { StoredChange, StoredCheck, StoredDeployment, StoredPlan, StoredTarget } from "./steps/storedResults.ts"
import { applyWebhook } from "./webhook/applyWebhook.ts"

/** Runs a step whose failure ends the upsert; the error names the step and what exists by then. */
const stage = <A, I, E extends { readonly message: string }, R>(
  name: string,
  stored: Schema.Schema<A, I>,
  effect: (isRepeated: boolean) => Effect.Effect<A, E, R>,
  outcome: (result: A) => string | StepOutcome,
  state: string = ""
): Effect.Effect<A, UpsertFailed, R | Settings | Steps> =>
  Effect.mapError(
    executeDurableStep(name, stored, effect, outcome),
    ({ message }) => new UpsertFailed({ step: name, reason: message, state })
  )

const orElse = <A, E, R>(decision: Option.Option<A>, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Option.match(decision, { onNone: () => effect, onSome: Effect.succeed })

/** Restores a stored plan; its entry was valid when it was stored. */
const restorePlan = (stored: StoredPlan): Effect.Effect<AppPlan> =>
  readDeclaredEntry(makeUnplacedSource(platformFileName))(stored.raw, 0).pipe(
    Effect.map(({ entry }) => ({ ...stored, entry })),
    Effect.orDie
  )

/** Describes what exists once the application has its record and its port. */
const describeState = ({ port }: AppPlan, uuid: string, isNew: boolean) => {
  const taken = Option.match(port, { onNone: () => "", onSome: (number) => `, and its port ${number} is taken` })
  return `The application ${
    isNew ? "exists now" : "is updated"
  } (${uuid})${taken}: running upsert again goes on from there`
}

/** An application once its record is written. */
interface Synced {
  readonly plan: AppPlan
  readonly target: PlatformTarget
  readonly check: StoredCheck
  readonly uuid: string
}

const isNew = ({ uuid }: StoredCheck) => Option.isNone(uuid)
const stateOf = ({ check, plan, uuid }: Synced) => describeState(plan, uuid, isNew(check))

/** The steps of an upsert by name. Each executes its decision, or reads and decides when it is reached. */
export const upsertSteps = ({ projectPath, ...request }: AppRequest, { decisions, planned }: PlanBinding) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const intent = recordIntent(yield* Steps)
    const matches = matchesPlan(planned)
    const decided = <K extends keyof Decisions>(name: K) => Option.map(decisions, (all) => all[name])
    // A repository's address may contain a token.
    const secrets = yield* secretsInUse
    const masked = (change: Change): Change => ({
      ...change,
      old: redactJson(change.old, secrets),
      new: redactJson(change.new, secrets)
    })

    return {
      config: Effect.flatMap(
        stage("config", StoredPlan, () =>
          Effect.zipLeft(
            orElse(decided("plan"), readPlan({ projectPath, ...request })),
            // Before anything is changed that the changelog could not record.
            refuseLink(projectPath, changelogFileName)
          ), describePlan),
        restorePlan
      ),
      server: (plan: AppPlan) =>
        stage("server", StoredTarget, () => orElse(decided("target"), findPlatformTarget(plan)), describeTarget),
      check: (plan: AppPlan) =>
        stage("check", StoredCheck, () =>
          Effect.map(orElse(decided("live"), findLive(plan)), ({ app, namesakes }) => ({
            uuid: Option.map(app, ({ uuid }) => uuid),
            namesakes,
            updates: listChangelogUpdates(plan, app).map(masked)
          })), ({ uuid }) => Option.match(uuid, { onNone: () => "CREATE", onSome: (id) => `UPDATE ${id}` })),
      validate: (check: StoredCheck) =>
        stage(
          "validate",
          Schema.Void,
          () => Effect.void,
          () => isNew(check) ? "new app" : describeChanges(check.updates)
        ),
      sync: (plan: AppPlan, target: PlatformTarget, check: StoredCheck) =>
        stage(
          "sync",
          Schema.String,
          (isRepeated) => applyRecord(plan, target, check.uuid, isRepeated, Option.flatten(decided("sync"))),
          (uuid) => `${isNew(check) ? "created" : "updated"} ${uuid}`
        ),
      env: ({ plan, uuid }: Synced) =>
        stage(
          "env",
          StoredChange,
          () => applyHostPort(plan, uuid, Option.flatten(decided("port")), matches("env"), intent("env")),
          ({ detail }) => detail
        ),
      route: (synced: Synced, portChange: Option.Option<Change>) =>
        Option.match(synced.plan.domain, {
          onNone: () =>
            Effect.as(skipStep("route", "no domain"), { detail: "", change: Option.none() } satisfies RouteOutcome),
          onSome: (domain) =>
            stage(
              "route",
              StoredChange,
              () =>
                applyRoute({
                  plan: synced.plan,
                  target: synced.target,
                  uuid: synced.uuid,
                  namesakes: synced.check.namesakes,
                  domain,
                  portChange,
                  projectPath,
                  planned: Option.flatten(decided("route")),
                  matchesPlan: matches("route"),
                  intent: intent("route")
                }),
              ({ detail }) => detail,
              stateOf(synced)
            )
        }),
      changelog: (synced: Synced, changes: ReadonlyArray<Change>) =>
        Effect.gen(function*() {
          const { check, plan, uuid } = synced
          // Stored, so that a repeated append recognizes its entry.
          const entry = yield* computeOnce("changelog entry", ChangelogEntry, () =>
            Effect.map(DateTime.now, (now) => ({
              timestamp: DateTime.formatIso(now),
              action: isNew(check) ? "create" as const : "update" as const,
              appName: plan.name,
              uuid,
              changes: changes.map(masked),
              configSnapshot: plan.raw
            })))
          yield* stage(
            "changelog",
            Schema.Void,
            (isRepeated) => appendChangelog(projectPath, entry, isRepeated),
            () => `${changelogFileName}: ${describeChanges(entry.changes)}`,
            stateOf(synced)
          )
          return entry
        }),
      deploy: (synced: Synced) =>
        stage(
          "deploy",
          StoredDeployment,
          () => platform.deploy(synced.uuid),
          ({ notQueued }) =>
            Option.match(notQueued, {
              onNone: () => "the platform was asked to deploy",
              onSome: (why): StepOutcome => ({ status: "skipped", detail: `the platform queued no deployment: ${why}` })
            }),
          stateOf(synced)
        ),
      webhook: ({ plan, uuid }: Synced) => applyWebhook(plan, uuid, matches("webhook"))
    }
  })
