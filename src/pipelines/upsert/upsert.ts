import type { Path } from "@effect/platform"
import { Effect, Option, Ref, Schema } from "effect"
import { recordFields } from "../../schema/applications.ts"
import { BuildPack, exposedPorts, hostPortKey } from "../../schema/declaredFields.ts"
import { type PathOutside, platformFileName } from "../../schema/projects.ts"
import {
  type AppRequest,
  Change,
  changelogFileName,
  type PlanChange,
  PlanFailed,
  PlanMoved,
  type PlatformPlan,
  RawEntry,
  UpsertFailed,
  type UpsertRequest,
  UpsertResult
} from "../../schema/upsert.ts"
import type { GitHost } from "../../services/githost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { type Locks, makeApplicationLock } from "../../services/locks/Locks.ts"
import { redactJson, redactText } from "../../services/masking.ts"
import type { Platform } from "../../services/platform/Platform.ts"
import { type RunFailure, Runs, type RunSpec } from "../../services/runs/Runs.ts"
import { computeOnce, Steps } from "../../services/runs/Steps.ts"
import { keyedDigest, secretsInUse, Settings, type SettingsError } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/Upstream.ts"
import { computeDriftDiffs, computeRemainingDifferences } from "../applications/differences.ts"
import {
  type AppPlan,
  findEntry,
  makeUnplacedSource,
  readDeclaredEntry,
  readPlatformFile
} from "../applications/platformFile.ts"
import { changedFacts, computePlanHash, type FactKinds, type Facts } from "../planHash.ts"
import { permitPath, refuseLink } from "../projects/paths.ts"
import {
  type Checked,
  describe,
  describeFound,
  describePlan,
  describeTarget,
  findLive,
  findPlatformTarget,
  listChangelogUpdates,
  type LiveState,
  makeStage,
  type Part,
  PlannedSteps,
  type PlanServices,
  type PlatformTarget,
  readPlan,
  type Seen
} from "./step.ts"
import { maskChanges, upsertSteps } from "./steps.ts"

/** Decisions of a plan, made before the first step runs, with their inputs. */
interface Decisions {
  readonly plan: AppPlan
  readonly target: PlatformTarget
  readonly live: LiveState
  /** Executes the decisions of the steps. */
  readonly apply: typeof upsertSteps.apply
}

/** Binds an upsert to a plan. */
export interface PlanBinding {
  /** Decisions to execute unchanged. None after a restart: the steps then read and decide again. */
  readonly decisions: Option.Option<Decisions>
  readonly planned: PlannedSteps
}

/** Binding without a plan: each step reads and decides when it is reached. */
export const unbound: PlanBinding = { decisions: Option.none(), planned: {} }

/** Plan of an upsert, with everything that it is based on. */
export interface DecidedUpsert {
  readonly plan: Omit<PlatformPlan, "planHash">
  readonly facts: Facts
  /** Write calls in order. */
  readonly writes: ReadonlyArray<string>
  /** Decisions for the steps to execute. */
  readonly decisions: Decisions
  /** Descriptions that bind the steps after a restart. */
  readonly planned: PlannedSteps
}

const optional = Schema.OptionFromNullOr
const OptionalText = optional(Schema.String)

/**
 * A plan without its entry, which is decoded from `raw` again. Platform records are never stored, because they may
 * contain secrets.
 */
export const StoredPlan = Schema.Struct({
  name: Schema.String,
  raw: RawEntry,
  warnings: Schema.Array(Schema.String),
  buildPack: BuildPack,
  repository: Schema.Struct({ owner: Schema.String, name: Schema.String }),
  gitUrl: Schema.String,
  branch: Schema.String,
  port: optional(Schema.Number),
  domain: OptionalText,
  server: OptionalText,
  service: OptionalText
})
export interface StoredPlan extends Schema.Schema.Type<typeof StoredPlan> {}

export const StoredTarget = Schema.Struct({ serverUuid: Schema.String, ip: OptionalText, local: Schema.Boolean })

/** The application that was found, with the changes that the update will make. */
export const StoredCheck = Schema.Struct({
  uuid: OptionalText,
  namesakes: Schema.Array(Schema.String),
  updates: Schema.Array(Change)
})
export interface StoredCheck extends Schema.Schema.Type<typeof StoredCheck> {}

/** Step that only reads: plan and run read the same, and describe it in the same words. */
interface Reading<In, Found, Kept, Encoded, E, R> {
  readonly step: string
  readonly read: (input: In) => Effect.Effect<Found, E, R>
  /** Part of it that a run stores. */
  readonly keep: (found: Found, input: In) => Effect.Effect<Kept, never, Settings>
  readonly stored: Schema.Schema<Kept, Encoded>
  readonly words: (kept: Kept, reader: "plan" | "run") => string
}

const defineReading = <In, Found, Kept, Encoded, E, R>(
  reading: Reading<In, Found, Kept, Encoded, E, R>
): Reading<In, Found, Kept, Encoded, E, R> => reading

const configStep = defineReading({
  step: "config",
  // Links are refused before anything is changed that the changelog could not record.
  read: (request: AppRequest) => Effect.zipLeft(readPlan(request), refuseLink(request.projectPath, changelogFileName)),
  keep: (plan): Effect.Effect<StoredPlan> => Effect.succeed(plan),
  stored: StoredPlan,
  // The entry's warnings are part of the whole plan.
  words: (plan, reader) => describePlan(reader === "plan" ? { ...plan, warnings: [] } : plan)
})

const serverStep = defineReading({
  step: "server",
  read: findPlatformTarget,
  keep: (target) => Effect.succeed(target),
  stored: StoredTarget,
  words: describeTarget
})

const checkStep = defineReading({
  step: "check",
  read: findLive,
  keep: ({ app, namesakes }, plan) =>
    Effect.map(maskChanges(listChangelogUpdates(plan, app)), (updates): StoredCheck => ({
      uuid: Option.map(app, ({ uuid }) => uuid),
      namesakes,
      updates
    })),
  stored: StoredCheck,
  words: ({ uuid }) => describeFound(uuid)
})

/** Reads for a plan. A failure ends the plan, because later steps depend on it. */
const readForPlan = <In, Found, Kept, Encoded, E extends { readonly message: string; readonly status?: number }, R>(
  { keep, read, step, words }: Reading<In, Found, Kept, Encoded, E, R>,
  input: In
) =>
  Effect.gen(function*() {
    const found = yield* Effect.mapError(
      read(input),
      ({ message, status }) => new PlanFailed({ step, reason: message, status: status ?? 500 })
    )
    const detail = words(yield* keep(found, input), "plan")
    return { found, part: { step, ...describe({ will: "nothing", detail }) } }
  })

/** Executes the step of a run, with what its plan has read if there is one. */
const readInRun = <In, Found, Kept, Encoded, E extends { readonly message: string }, R>(
  { keep, read, step, stored, words }: Reading<In, Found, Kept, Encoded, E, R>,
  input: In,
  planned: Option.Option<Found>
) =>
  makeStage(step)(
    stored,
    () =>
      Effect.flatMap(Option.getOrElse(Option.map(planned, Effect.succeed), () => read(input)), (found) =>
        keep(found, input)),
    (kept) =>
      words(kept, "run")
  )

/** Marks the steps after the one at which an upsert would stop as not reached. */
const asReached = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const last = parts.findIndex(({ stops }) => stops)
  return parts.map((one, index) =>
    last < 0 || index <= last
      ? one
      : { step: one.step, ...describe({ will: "skip", detail: `not reached: it would stop at ${parts[last]?.step}` }) }
  )
}

/** Differences that remain because no step changes them. A deployment applies only changes of these kinds. */
const listRemaining = ({ app, envs, parts, plan }: Seen) => {
  const changes = parts.flatMap((one) => one.changes).filter(({ target }) =>
    target === "application" || target === "variable" || target === "route"
  )
  return Option.match(app, {
    onNone: () => [],
    onSome: (record) => computeRemainingDifferences(computeDriftDiffs(plan, record, envs).diffs, changes)
  })
}

/** Plan as users see it. */
const summarizePlan = (seen: Seen, reached: ReadonlyArray<Part>) => {
  const { app, parts, plan } = seen
  const changes = reached.flatMap((one) => one.changes)
  const stopping = reached.flatMap(({ detail, step, stops }) => stops ? [`${step}: ${detail}`] : [])
  const stays = [...listRemaining(seen), ...parts.flatMap((one) => one.stays)]
  const action: PlatformPlan["action"] = Option.isNone(app) ? "create" : changes.length === 0 ? "none" : "update"
  return {
    appName: plan.name,
    uuid: Option.match(app, { onNone: () => null, onSome: ({ uuid }) => uuid }),
    action,
    changes,
    ...(stays.length === 0 ? {} : { stays }),
    steps: reached.map(({ detail, step, will }) => ({ step, will, detail })),
    unknown: parts.flatMap((one) => one.unknown),
    warnings: [...plan.warnings, ...stopping, ...reached.flatMap((one) => one.warnings)]
  }
}

/** Facts that the plan's hash covers: all that was read, and what was decided from it. */
const collectFacts = ({ app, namesakes, parts, plan, target }: Seen, reached: ReadonlyArray<Part>): Facts => ({
  ...parts.reduce<Facts>((facts, one) => ({ ...facts, ...one.facts }), {}),
  entry: { value: [plan.raw, plan.repository, Option.getOrNull(plan.service)] },
  server: { value: [target.serverUuid, target.local, Option.getOrNull(target.ip)], now: describeTarget(target) },
  application: {
    value: [Option.match(app, { onNone: () => null, onSome: ({ uuid }) => uuid }), namesakes],
    now: Option.match(app, { onNone: () => "not there", onSome: ({ uuid }) => `there as ${uuid}` })
  },
  decided: { value: [reached.flatMap((one) => one.writes), reached.map(({ step, will }) => [step, will])] }
})

/** Reads everything that an upsert would read and decides each of its steps. Changes nothing. */
export const decideUpsert = Effect.fn("decideUpsert")(function*(
  request: AppRequest
): Effect.fn.Return<DecidedUpsert, PlanFailed, PlanServices> {
  const config = yield* readForPlan(configStep, request)
  const server = yield* readForPlan(serverStep, config.found)
  const check = yield* readForPlan(checkStep, config.found)
  const { live, plan, target } = { live: check.found, plan: config.found, target: server.found }
  const { apply, seen } = yield* upsertSteps.plan({
    ...live,
    projectPath: request.projectPath,
    plan,
    target,
    parts: [config.part, server.part, check.part],
    changes: listChangelogUpdates(plan, live.app),
    envs: Option.none(),
    planned: {}
  })
  const reached = asReached(seen.parts)
  return {
    plan: summarizePlan(seen, reached),
    facts: collectFacts(seen, reached),
    writes: reached.flatMap((one) => one.writes),
    decisions: { plan, target, live, apply },
    planned: seen.planned
  }
}, withAnswerBudget)

const labels = {
  entry: "the entry in platform.json",
  settings: "a setting that applications are made with",
  server: "the server",
  application: "the application on the platform",
  ...Object.fromEntries(recordFields.map(({ label, record: { key } }) => [key, `${label} (${key})`])),
  [exposedPorts.key]: `${exposedPorts.label} (${exposedPorts.key})`,
  fqdn: "Domain (fqdn)",
  hostPort: hostPortKey,
  route: "the proxy file",
  secret: "the setting gitHost.webhookSecret",
  platformSecret: "the application's webhook secret",
  hooks: "the repository's list of webhooks",
  decided: "what the steps would do"
} satisfies Readonly<Record<string, string>>

/** Facts about the application, implied if another application is meant. */
const factsOfApplication: ReadonlyArray<string> = [
  ...recordFields.map(({ record }) => record.key),
  exposedPorts.key,
  "fqdn",
  "hostPort",
  "platformSecret",
  "decided"
]

/** Facts that the hash of an upsert's plan covers. */
export const upsertFacts: FactKinds = {
  labels,
  // The steps follow from the other facts, so they are only reported if nothing else has changed.
  isImplied: (name, moved) =>
    (moved.includes("application") && factsOfApplication.includes(name)) || (name === "decided" && moved.length > 1)
}

/** Plans an upsert, with a hash that binds a later upsert to the plan. Read-only. */
export const planUpsert = Effect.fn("planUpsert")(function*(
  request: AppRequest
): Effect.fn.Return<PlatformPlan, PlanFailed | PathOutside | SettingsError, PlanServices> {
  yield* permitPath(request.projectPath)
  const { facts, plan } = yield* decideUpsert(request)
  const digest = yield* keyedDigest
  const secrets = yield* secretsInUse
  const words = (texts: ReadonlyArray<string>) => texts.map((text) => redactText(text, secrets))
  const masked = (change: PlanChange): PlanChange => ({
    ...change,
    old: redactJson(change.old, secrets),
    new: redactJson(change.new, secrets)
  })
  return {
    planHash: computePlanHash(upsertFacts, facts, digest),
    ...plan,
    changes: plan.changes.map(masked),
    ...(plan.stays === undefined ? {} : {
      stays: plan.stays.map((one) => ({
        ...one,
        declared: redactJson(one.declared, secrets),
        live: redactJson(one.live, secrets),
        remedy: redactText(one.remedy, secrets)
      }))
    }),
    steps: plan.steps.map((step) => ({ ...step, detail: redactText(step.detail, secrets) })),
    unknown: words(plan.unknown),
    warnings: words(plan.warnings)
  }
})

/** Decides again; fails if something has moved since the plan with this hash. */
export const checkUpsertPlan = Effect.fn("checkUpsertPlan")(function*(
  request: AppRequest,
  hash: string
) {
  const { decisions, facts, plan, planned } = yield* decideUpsert(request)
  const moved = changedFacts(upsertFacts, hash, facts, yield* keyedDigest)
  if (moved.length === 0) return { decisions, planned }
  const secrets = yield* secretsInUse
  return yield* new PlanMoved({ appName: plan.appName, moved: moved.map((words) => redactText(words, secrets)) })
})

const failed = (step: string, reason: string) => new UpsertFailed({ step, reason })

/**
 * Decides again and fails if something has changed since the plan. Runs once per run: an attempt after a restart sees
 * its own changes, so only the descriptions of its steps bind it.
 */
export const bindToPlan = (
  { planHash, ...request }: UpsertRequest
): Effect.Effect<PlanBinding, PlanMoved | UpsertFailed, PlanServices | Steps> =>
  Effect.gen(function*() {
    if (planHash === undefined || planHash === null) return unbound
    const decided = yield* Ref.make(Option.none<Pick<DecidedUpsert, "decisions" | "planned">>())
    const check = checkUpsertPlan(request, planHash).pipe(
      Effect.tap((answer) => Ref.set(decided, Option.some(answer))),
      Effect.as("holds" as const),
      Effect.mapError((error) =>
        error._tag === "PlanMoved"
          ? error
          : error._tag === "PlanFailed"
          ? failed(error.step, error.reason)
          : failed("config", error.message)
      )
    )
    yield* computeOnce("plan", Schema.Literal("holds"), () => check)
    const now = yield* Ref.get(decided)
    // Stored separately: descriptions that look like a secret are not stored, and this must not repeat the check.
    const planned = yield* computeOnce(
      "planned",
      PlannedSteps,
      () => Effect.succeed(Option.match(now, { onNone: () => ({}), onSome: (answer) => answer.planned }))
    )
    return { decisions: Option.map(now, ({ decisions }): Decisions => decisions), planned }
  })

/** Restores a stored plan; its entry was valid when it was stored. */
const restorePlan = (stored: StoredPlan): Effect.Effect<AppPlan> =>
  readDeclaredEntry(makeUnplacedSource(platformFileName))(stored.raw, 0).pipe(
    Effect.map(({ entry }) => ({ ...stored, entry })),
    Effect.orDie
  )

/** Executes the steps `config`, `server` and `check`. */
const lookUp = Effect.fn("upsert.lookUp")(function*(request: AppRequest, decisions: PlanBinding["decisions"]) {
  const stored = yield* readInRun(configStep, request, Option.map(decisions, ({ plan }) => plan))
  const plan = yield* restorePlan(stored)
  const target = yield* readInRun(serverStep, plan, Option.map(decisions, ({ target }) => target))
  const { namesakes, updates, uuid } = yield* readInRun(checkStep, plan, Option.map(decisions, ({ live }) => live))
  return { projectPath: request.projectPath, plan, target, found: uuid, namesakes, changes: updates } satisfies Checked
})

/**
 * Creates or updates a declared application, with its port, route, deployment and webhook. Steps and order of calls
 * follow the specification; each step depends only on earlier results.
 * @param binding decisions to execute; a step without one reads and decides when it is reached
 */
export const upsertApp = Effect.fn("upsertApp")(function*(
  request: AppRequest,
  { decisions, planned }: PlanBinding = unbound
) {
  const checked = yield* lookUp(request, decisions)
  const { apply } = Option.getOrElse(decisions, () => upsertSteps)
  const { changelogEntry, plan, uuid } = yield* apply(checked, planned)
  const domain = Option.getOrElse(plan.domain, () => "")
  return { success: true, uuid, domain, changelogEntry, steps: yield* (yield* Steps).all }
})

/** Name of the requested application; none if its project cannot be read, in which case the run reports the reason. */
const nameOf = ({ appName, projectPath }: AppRequest) =>
  readPlatformFile(projectPath).pipe(
    Effect.map(Option.flatMap((apps) => findEntry(apps, appName))),
    Effect.map(Option.map(({ entry }) => entry.name)),
    Effect.orElseSucceed(() => Option.none<string>())
  )

/** Specification and program of an upsert's run. */
export const upsertRun = Effect.fn("upsertRun")(function*(request: UpsertRequest) {
  const settings = yield* Settings
  const name = yield* nameOf(request)
  const platformUrl = yield* Effect.orElseSucceed(settings.find("platform.url"), () => Option.none<string>())
  const key = makeApplicationLock(
    Option.getOrElse(platformUrl, () => ""),
    Option.getOrElse(name, () => request.projectPath)
  )
  const named = Option.match(name, { onNone: () => ({}), onSome: (appName) => ({ appName }) })
  const spec: RunSpec<UpsertResult, typeof UpsertResult.Encoded> = {
    kind: "upsert",
    key,
    subject: { projectPath: request.projectPath, ...named },
    request: { ...request, ...named },
    result: UpsertResult,
    afterRestart: "resume"
  }
  const { planHash: _, ...wanted } = { ...request, ...named }
  return {
    spec,
    program: Effect.flatMap(bindToPlan({ ...request, ...named }), (binding) => upsertApp(wanted, binding))
  }
})

/**
 * Runs an upsert as a run of the service. Upserts of one application are serialized: the second one sees the changes of
 * the first.
 */
export const upsert = Effect.fn("upsert")(function*(
  request: UpsertRequest
): Effect.fn.Return<
  UpsertResult,
  PlanMoved | PathOutside | SettingsError | UpsertFailed | RunFailure,
  GitHost | LocalFiles | Locks | Path.Path | Platform | Runs | Settings | Sftp | Ssh
> {
  yield* permitPath(request.projectPath)
  const { program, spec } = yield* upsertRun(request)
  return yield* Effect.catchTag(
    (yield* Runs).run(spec, program),
    "FileLocked",
    ({ message }) => new UpsertFailed({ step: "config", reason: message })
  )
})
