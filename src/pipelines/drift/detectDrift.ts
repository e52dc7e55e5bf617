import type { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import type { DriftDiff, DriftPart, DriftUnknown } from "../../schema/applications/Drift.ts"
import type { PlatformFailure, PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import type { DeclaredApp } from "../../schema/applications/PlatformFile.ts"
import type { PlanChange, StayingDifference } from "../../schema/applications/PlatformPlan.ts"
import type { ProjectFileInvalid } from "../../schema/projects/Project.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { redactJson, redactText } from "../../services/secrets/shownText.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { type AppPlan, planEntry } from "../applications/appPlan.ts"
import { filterUncomparedChanges } from "../applications/remainingDifferences.ts"
import { buildHostPortChange, decideHostPortAction } from "../upsert/hostPort/decideHostPort.ts"
import { buildUpsertValues } from "../upsert/inputs/findLive.ts"
import { findPlatformTarget } from "../upsert/inputs/findPlatformTarget.ts"
import { requirePort } from "../upsert/inputs/readPlan.ts"
import { findNamesakes } from "../upsert/inputs/routeName.ts"
import { listRecordUpdates } from "../upsert/record/describeRecord.ts"
import { describeRoute } from "../upsert/route/describeRoute.ts"
import { describeWebhook } from "../upsert/webhook/describeWebhook.ts"
import { compareEntry } from "./compareEntry.ts"

/** Differences between an application and its declared entry, without secrets. */
export interface DetectedDrift {
  /** Compared fields, in the order of the specification. */
  readonly diffs: ReadonlyArray<DriftDiff>
  readonly routes: ReadonlyArray<DriftPart>
  readonly hook: ReadonlyArray<DriftPart>
  readonly others: ReadonlyArray<DriftPart>
  readonly unknown: ReadonlyArray<DriftUnknown>
}

/** Services that drift is read with. */
export type DriftServices = GitHost | LocalFiles | Path.Path | Platform | Settings | Ssh

const changed = ({ field, label, new: local, old: remote }: PlanChange): DriftPart => ({ field, label, local, remote })
const staying = ({ declared: local, field, label, live: remote, remedy }: StayingDifference): DriftPart => ({
  field,
  label,
  local,
  remote,
  remedy
})

const nothing = { routes: [], unknown: [], others: [] }

/** Finds the server of the application; a reason that would stop an upsert counts as a difference. */
const targetOf = (plan: AppPlan) =>
  Effect.either(
    Option.isNone(plan.server) ? Effect.zipRight(requirePort(plan), findPlatformTarget(plan)) : findPlatformTarget(plan)
  )

const detectRouteDrift = (
  projectPath: string,
  plan: AppPlan,
  app: PlatformRecord,
  namesakes: ReadonlyArray<string>,
  portChange: Parameters<typeof describeRoute>[0]["portChange"]
) =>
  Effect.gen(function*() {
    const target = yield* targetOf(plan)
    if (Either.isLeft(target)) {
      const { _tag, message } = target.left
      const [server, domain] = [Option.getOrNull(plan.server), Option.getOrNull(plan.domain)]
      return _tag === "DomainWithoutPort"
        ? { ...nothing, routes: [{ field: "port", label: "Port", local: null, remote: domain, remedy: message }] }
        : _tag === "TargetUnusable"
        ? { ...nothing, others: [{ field: "server", label: "Server", local: server, remote: null, remedy: message }] }
        : { ...nothing, unknown: [{ field: "server", label: "Server", reason: message }] }
    }
    const { part } = yield* describeRoute({
      plan,
      target: target.right,
      app: Option.some(app),
      namesakes,
      projectPath,
      portChange
    })
    return {
      ...part,
      routes: [...part.changes.map(changed), ...part.stays.map(staying)],
      unknown: part.unread,
      others: []
    }
  })

/**
 * Finds in what an application differs from its entry: the record, its variables, the way to its domain and its
 * webhook, as an upsert would decide it. Every answer, exit code and screen counts these differences. Changes nothing.
 * @param apps the applications of the platform
 */
export const detectDrift = Effect.fn("detectDrift")(function*(
  projectPath: string,
  declared: DeclaredApp,
  record: PlatformRecord,
  apps: ReadonlyArray<PlatformRecord>
): Effect.fn.Return<DetectedDrift, ProjectFileInvalid | PlatformFailure | SettingsError, DriftServices> {
  const platform = yield* Platform
  const plan = yield* planEntry(projectPath, declared)
  // Identical concurrent reads share one call.
  const [{ diffs, envs, unknown }, app] = yield* Effect.all([
    compareEntry(projectPath, declared, record),
    platform.declared(record, buildUpsertValues(plan))
  ], { concurrency: 2 })
  const portChange = Option.flatMap(
    plan.port,
    (port) => buildHostPortChange(decideHostPortAction(Option.getOrElse(envs, () => []), port), port)
  )
  const [way, { part: hook }] = yield* Effect.all([
    detectRouteDrift(
      projectPath,
      plan,
      app,
      findNamesakes(record.name, apps),
      Option.isSome(envs) ? portChange : Option.none()
    ),
    describeWebhook(plan, Option.some(app))
  ], { concurrency: 2 })

  const secrets = yield* secretsInUse
  const shown = (one: DriftPart): DriftPart => ({
    ...one,
    local: redactJson(one.local, secrets),
    remote: redactJson(one.remote, secrets),
    ...(one.remedy === undefined ? {} : { remedy: redactText(one.remedy, secrets) })
  })
  const isBeside = (one: DriftPart) => one.field !== "fqdn" || !diffs.some(({ field }) => field === "domain")
  return {
    diffs: diffs.map((diff) => ({ ...diff, remote: redactJson(diff.remote, secrets) })),
    routes: way.routes.filter(isBeside).map(shown),
    hook: [...hook.changes.map(changed), ...hook.stays.map(staying)].map(shown),
    others: [...filterUncomparedChanges(listRecordUpdates(plan, app), diffs).map(changed), ...way.others].map(shown),
    unknown: [
      ...unknown,
      ...[...way.unknown, ...hook.unread].map((one) => ({
        ...one,
        reason: redactText(one.reason, secrets)
      }))
    ]
  }
})
