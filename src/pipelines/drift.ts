import { Path } from "@effect/platform"
import { Array, Effect, Either, Option } from "effect"
import type { PlatformFailure, PlatformRecord } from "../schema/applications.ts"
import type { PathOutside, ProjectFileInvalid } from "../schema/projects.ts"
import {
  type AppRequest,
  type Change,
  changelogFileName,
  type DeclaredApp,
  type Drift,
  type DriftDiff,
  type DriftPart,
  type DriftUnknown,
  type PlanChange,
  type StayingDifference
} from "../schema/upsert.ts"
import type { GitHost } from "../services/githost.ts"
import type { LocalFileFailed, LocalFiles } from "../services/local/LocalFiles.ts"
import { redactJson, redactText } from "../services/masking.ts"
import { reportDrift } from "../services/notify/Notifier.ts"
import { Platform } from "../services/platform/Platform.ts"
import { secretsInUse, type Settings, type SettingsError } from "../services/settings/Settings.ts"
import type { Ssh } from "../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../services/upstream/Upstream.ts"
import { findLastApplied } from "./applications/changelog.ts"
import { buildUpdateFields, computeDriftDiffs, filterUncomparedChanges } from "./applications/differences.ts"
import {
  type AppPlan,
  findEntry,
  makeUnplacedSource,
  maskEntries,
  planEntry,
  readDeclaredEntry,
  readPlatformFile
} from "./applications/platformFile.ts"
import { permitPath } from "./projects/paths.ts"
import { findNamesakes } from "./routes/ownRoute.ts"
import { buildHostPortChange, decideHostPortAction } from "./upsert/hostPort.ts"
import { listRecordUpdates } from "./upsert/record.ts"
import { describeRoute } from "./upsert/route.ts"
import { buildUpsertValues, findPlatformTarget, requirePort } from "./upsert/step.ts"
import { describeWebhook } from "./upsert/webhook.ts"

/** Declared values; the record adopts their spelling if the platform means the same by its own. */
export const buildDeclaredValues = (plan: AppPlan) => ({
  ...buildUpdateFields(plan),
  ...Option.match(plan.domain, { onNone: () => ({}), onSome: (domain) => ({ fqdn: `https://${domain}` }) })
})

/** Plan that the last upsert applied; none if the changelog has no valid entry of it. */
const appliedPlan = (projectPath: string, name: string) =>
  Effect.gen(function*() {
    const snapshot = yield* yield* findLastApplied(projectPath, name)
    return yield* planEntry(projectPath, yield* readDeclaredEntry(makeUnplacedSource(changelogFileName))(snapshot, 0))
  }).pipe(Effect.option)

/** Compares a record of the platform with an entry of `platform.json`, and with what the last upsert applied. */
export const compareEntry = Effect.fn("compareEntry")(function*(
  projectPath: string,
  declared: DeclaredApp,
  record: PlatformRecord
) {
  const platform = yield* Platform
  const plan = yield* planEntry(projectPath, declared)
  const before = yield* appliedPlan(projectPath, record.name)
  // Identical concurrent reads share one call; each result adopts the spelling of the values that it is compared with.
  const [app, applied] = yield* Effect.all([
    platform.declared(record, buildDeclaredValues(plan)),
    Effect.transposeMapOption(
      before,
      (earlier) =>
        Effect.map(platform.declared(record, buildDeclaredValues(earlier)), (app) => ({ plan: earlier, app }))
    )
  ], { concurrency: 2 })
  const envs = yield* Effect.option(platform.envs(record.uuid))
  return { envs, ...computeDriftDiffs(plan, app, envs, Option.getOrUndefined(applied)) }
})

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
  changes: ReadonlyArray<Change>
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
      changes
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
      Option.isSome(envs) ? Option.toArray(portChange) : []
    ),
    describeWebhook({ plan, app: Option.some(app) })
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

const unlessEmpty = <K extends string, A>(key: K, all: ReadonlyArray<A>) => all.length === 0 ? {} : { [key]: all }

/**
 * Compares an application with its declaration and with what the last upsert applied; changes nothing. A difference
 * says which side has changed since, if the changelog has the applied value.
 */
export const drift = Effect.fn("drift")(function*(
  { appName, projectPath }: AppRequest
): Effect.fn.Return<
  Drift,
  ProjectFileInvalid | PathOutside | LocalFileFailed | PlatformFailure | SettingsError,
  DriftServices
> {
  yield* permitPath(projectPath)
  const apps = Option.getOrElse(yield* readPlatformFile(projectPath), () => [])
  const configs = yield* maskEntries(apps.map(({ raw }) => raw))
  const declared = findEntry(apps, appName)
  if (Option.isNone(declared)) return { exists: false, diffs: [], configs }
  const { entry, raw, warnings } = declared.value
  const [appConfig = raw] = yield* maskEntries([raw])
  const warned = unlessEmpty("warnings", warnings)

  const live = yield* (yield* Platform).applications
  const found = Array.findFirst(live, ({ name }) => name === entry.name)
  if (Option.isNone(found)) return { exists: false, diffs: [], appConfig, configs, ...warned }
  const { name, uuid } = found.value
  const judged = yield* detectDrift(projectPath, declared.value, found.value, live)
  const { diffs, hook, others, routes, unknown } = judged
  // Resolved, because another spelling of the same path must not count as new drift.
  const directory = (yield* Path.Path).resolve(projectPath)
  yield* reportDrift({ projectPath: directory, appName: name }, judged)
  return {
    exists: true,
    diffs,
    ...unlessEmpty("routes", routes),
    ...unlessEmpty("hook", hook),
    ...unlessEmpty("others", others),
    ...unlessEmpty("unknown", unknown),
    app: { uuid, name },
    appConfig,
    configs,
    ...warned
  }
}, withAnswerBudget)
