import type { Path } from "@effect/platform"
import { Array, Effect, Either, Option, Schema } from "effect"
import type { AppEnv, PlatformFailure, PlatformRecord, PlatformServer } from "../../schema/applications.ts"
import {
  AppNotDeclared,
  type AppRequest,
  Change,
  type ChangelogEntry,
  DomainWithoutPort,
  type DriftUnknown,
  NoPlatformFile,
  type PlanChange,
  type PlanStep,
  type StayingDifference,
  StepMoved,
  TargetUnusable,
  UpsertFailed
} from "../../schema/upsert.ts"
import { pluralize, quoteInput } from "../../schema/words.ts"
import type { GitHost } from "../../services/githost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Locks } from "../../services/locks/Locks.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { computeOnce, executeDurableStep, type StepOutcome, Steps } from "../../services/runs/Steps.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { buildUpdateFields, computeBuildChanges } from "../applications/differences.ts"
import { type AppPlan, findEntry, planEntry, readPlatformFile } from "../applications/platformFile.ts"
import type { Facts } from "../planHash.ts"
import { readChosenComposeFile } from "../projects/compose.ts"
import { findNamesakes } from "../routes/ownRoute.ts"

/** Platform server that an application runs on. A local one is the platform's own host and needs no proxy route. */
export interface PlatformTarget {
  readonly serverUuid: string
  readonly ip: Option.Option<string>
  readonly local: boolean
}

const sameText = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/**
 * Finds a server by name.
 * @param aliases addresses of the platform's own host
 * @param localIp address of a local server
 */
export const findPlatformServer = (
  servers: ReadonlyArray<PlatformServer>,
  name: string,
  aliases: ReadonlyArray<string>,
  localIp: string
): Either.Either<PlatformTarget, string> => {
  const server = servers.find((candidate) => candidate.name === name)
  if (server === undefined) {
    const names = servers.map((candidate) => JSON.stringify(candidate.name)).join(", ")
    return Either.left(
      `The platform has no server ${quoteInput(name)}: ${names === "" ? "it has none at all" : `there is ${names}`}`
    )
  }
  const ip = Option.filter(Option.fromNullable(server.ip), (address) => address !== "")
  const local = server.name === "localhost" ||
    Option.exists(ip, (address) => aliases.some((alias) => sameText(alias, address)))
  return Either.right({ serverUuid: server.uuid, local, ip: local ? Option.some(localIp) : ip })
}

export const describePlan = (
  { buildPack, name, port, warnings }: Pick<AppPlan, "buildPack" | "name" | "port" | "warnings">
) => {
  const ports = Option.match(port, { onNone: () => "no port", onSome: (number) => `port ${number}` })
  return [`${name}: ${buildPack}, ${ports}`, ...warnings].join(". ")
}

/** Describes the server of an application. */
export const describeTarget = ({ ip, local, serverUuid }: PlatformTarget) =>
  `server ${serverUuid}${Option.match(ip, { onNone: () => "", onSome: (address) => ` at ${address}` })}${
    local ? ", local" : ""
  }`

/** Changes for the changelog: of the build, or the creation. */
export const listChangelogUpdates = (plan: AppPlan, live: Option.Option<PlatformRecord>): ReadonlyArray<Change> =>
  Option.match(live, {
    onNone: () => [{ field: "_action", label: "Action", old: null, new: "CREATED" }],
    onSome: (app) => computeBuildChanges(plan, app)
  })

/** Counts changes and names their fields. */
export const describeChanges = (changes: ReadonlyArray<Change>) =>
  changes.length === 0
    ? "no changes"
    : `${pluralize(changes.length, "change")}: ${changes.map(({ label }) => label).join(", ")}`

/** Describes what the platform has of an application. */
export const describeFound = (uuid: Option.Option<string>) =>
  Option.match(uuid, { onNone: () => "CREATE", onSome: (id) => `UPDATE ${id}` })

/** Describes the changes of the build. */
export const describeUpdates = (isNew: boolean, changes: ReadonlyArray<Change>) =>
  isNew ? "new app" : describeChanges(changes)

/** State of the platform before an upsert changes anything. */
export interface LiveState {
  /** Full record of the application; none if it has to be created. */
  readonly app: Option.Option<PlatformRecord>
  /** Other applications whose routes have the same name. */
  readonly namesakes: ReadonlyArray<string>
}

/** Values whose spelling the record adopts if the platform means the same. A stack may have several addresses. */
export const buildUpsertValues = (plan: AppPlan) => ({
  ...buildUpdateFields(plan),
  ...(plan.buildPack === "composestack" && Option.isSome(plan.domain) ? { fqdn: `https://${plan.domain.value}` } : {})
})

/** Upsert step 3: looks the application up. */
export const findLive = Effect.fn("findLive")(function*(
  plan: AppPlan
): Effect.fn.Return<LiveState, PlatformFailure | SettingsError, Platform> {
  const platform = yield* Platform
  const apps = yield* platform.applications
  const found = Array.findFirst(apps, ({ name }) => name === plan.name)
  const app = yield* Effect.transposeMapOption(found, ({ uuid }) => platform.application(uuid, buildUpsertValues(plan)))
  return { app, namesakes: findNamesakes(plan.name, apps) }
})

/** Upsert step 1: reads the declared entry. The default server is never local, so a domain there needs a port. */
export const readPlan = Effect.fn("readPlan")(function*(
  { appName, projectPath }: AppRequest
) {
  const apps = Option.getOrElse(yield* readPlatformFile(projectPath), () => [])
  if (apps.length === 0) return yield* new NoPlatformFile({ projectPath })
  const declared = findEntry(apps, appName)
  if (Option.isNone(declared)) {
    return yield* new AppNotDeclared({
      projectPath,
      appName: appName ?? "",
      names: apps.map(({ entry }) => entry.name)
    })
  }
  const plan = yield* planEntry(projectPath, declared.value)
  if (Option.isNone(plan.server)) yield* requirePort(plan)
  return { ...plan, service: Option.isNone(plan.service) ? yield* onlyService(projectPath, plan) : plan.service }
})

/** Finds the only service of the project's compose file; none if the file cannot be read. */
const onlyService = (projectPath: string, { buildPack }: AppPlan) =>
  buildPack === "composestack"
    ? Effect.map(Effect.option(readChosenComposeFile(projectPath)), (file) =>
      Option.flatMap(file, ({ services: [first, ...others] }) =>
        first !== undefined && others.length === 0 ? Option.some(first.name) : Option.none()))
    : Effect.succeed(Option.none())

/** Fails for a domain without a port, since a proxy route needs one. */
export const requirePort = ({ domain, name, port }: AppPlan): Effect.Effect<void, DomainWithoutPort> =>
  Option.isSome(domain) && Option.isNone(port)
    ? new DomainWithoutPort({ appName: name, domain: domain.value })
    : Effect.void

/** Upsert step 2: finds the application's server. Fails early if a route would lack its port or address. */
export const findPlatformTarget = Effect.fn("findPlatformTarget")(function*(
  plan: AppPlan
) {
  const platform = yield* Platform
  const settings = yield* Settings
  if (Option.isNone(plan.server)) {
    const serverUuid = yield* settings.get("platform.defaultServerUuid")
    const ip = Option.isSome(plan.domain)
      ? Option.some(yield* settings.get("proxy.targetIp"))
      : yield* settings.find("proxy.targetIp")
    return { serverUuid, local: false, ip }
  }
  const aliases = yield* settings.get("platform.localAliases")
  const localIp = yield* settings.get("gitHost.sshHost")
  const target = yield* Either.mapLeft(
    findPlatformServer(yield* platform.servers, plan.server.value, aliases, localIp),
    (reason) => new TargetUnusable({ reason })
  )
  if (target.local || Option.isNone(plan.domain)) return target
  yield* requirePort(plan)
  if (Option.isNone(target.ip)) {
    const reason = `The platform gives no ip for its server ${JSON.stringify(plan.server.value)}: ` +
      `${plan.domain.value} cannot be routed there`
    return yield* new TargetUnusable({ reason })
  }
  return target
})

/** Plan of one step of an upsert. */
export interface Part extends PlanStep {
  readonly changes: ReadonlyArray<PlanChange>
  /** Write calls of the step, in order, made even without differences. */
  readonly writes: ReadonlyArray<string>
  /** Differences that an upsert would not resolve. */
  readonly stays: ReadonlyArray<StayingDifference>
  readonly unknown: ReadonlyArray<string>
  /** Parts of `unknown` that a user can make readable. */
  readonly unread: ReadonlyArray<DriftUnknown>
  readonly warnings: ReadonlyArray<string>
  readonly facts: Facts
  /** True if the upsert would stop here. */
  readonly stops: boolean
}

/** Plan of a step without its name, which `makeStep` adds. */
export type Description = Omit<Part, "step">

/** Describes a step, with defaults for missing fields. */
export const describe = (given: Pick<Description, "detail" | "will"> & Partial<Description>): Description => ({
  changes: [],
  writes: [],
  stays: [],
  unknown: [],
  unread: [],
  warnings: [],
  facts: {},
  stops: false,
  ...given
})

/** Description of a step at which an upsert would fail. */
export const describeStop = (reason: string, given: Partial<Description> = {}): Description =>
  describe({ ...given, will: "skip", detail: `an upsert would stop here: ${reason}`, stops: true })

/** Derives the effect of a step from its changes: it changes something, or finds nothing to do. */
export const decideWill = (changes: ReadonlyArray<PlanChange>): PlanStep["will"] =>
  changes.length === 0 ? "nothing" : "change"

/** Fact for something unreadable; without the reason, which may vary. */
export const unreadable = { value: "unreadable", now: "unreadable" } as const

/** Descriptions of planned actions by step, for comparison with later decisions. */
export const PlannedSteps = Schema.Record({ key: Schema.String, value: Schema.String })
export type PlannedSteps = Schema.Schema.Type<typeof PlannedSteps>

/** Description of a step without work to do. */
export const noChange = "change nothing here"

/** Fails if a step is about to deviate from its plan. */
export type MatchesPlan = (now: string) => Effect.Effect<void, StepMoved>

/**
 * Compares steps with their plan. A step without work to do always matches, since an earlier attempt may have done it.
 * A step without a plan matches too.
 */
const matchesPlan = (planned: PlannedSteps, step: string): MatchesPlan => (now) => {
  const words = planned[step]
  return words === undefined || words === now || now === noChange
    ? Effect.void
    : Effect.fail(new StepMoved({ planned: words, now }))
}

/**
 * Stores a change before it is made, and returns the one stored by the first attempt. A step that was killed after its
 * change finds nothing to do, but the changelog still records the change.
 */
export type Intent = (change: Option.Option<Change>) => Effect.Effect<Option.Option<Change>>

/** Stores the intent of a run's step. */
const recordIntent = (steps: Steps["Type"], step: string): Intent => (change) =>
  computeOnce(`${step} change`, Schema.OptionFromNullOr(Change), () => Effect.succeed(change)).pipe(
    Effect.provideService(Steps, steps)
  )

/** Describes a change that an earlier attempt has already made. */
export const describeEarlierChange = (change: Change): string =>
  `${change.label} became ${change.new} before the service ended`

/** Outcome of a step that may change something, as a run stores it. */
export const StoredChange = Schema.Struct({ detail: Schema.String, change: Schema.OptionFromNullOr(Change) })
export interface StoredChange extends Schema.Schema.Type<typeof StoredChange> {}

/** Services required for planning. */
export type PlanServices = GitHost | LocalFiles | Path.Path | Platform | Settings | Ssh
type RunServices = PlanServices | Locks | Sftp | Steps

/** State of a plan after some of its steps. */
export interface Seen extends LiveState {
  readonly projectPath: string
  readonly plan: AppPlan
  readonly target: PlatformTarget
  /** Plans of the steps so far. */
  readonly parts: ReadonlyArray<Part>
  /** Changes so far, for the changelog. */
  readonly changes: ReadonlyArray<Change>
  /** Variables of the application; none if they were not read. */
  readonly envs: Option.Option<ReadonlyArray<AppEnv>>
  /** Descriptions that bind the steps so far. */
  readonly planned: PlannedSteps
}

/** State of a run that has found what it needs. Platform records may contain secrets, so they are not part of it. */
export interface Checked extends Omit<LiveState, "app"> {
  readonly projectPath: string
  readonly plan: AppPlan
  readonly target: PlatformTarget
  /** Uuid of the application, if it existed before. */
  readonly found: Option.Option<string>
  /** Changes so far, for the changelog. */
  readonly changes: ReadonlyArray<Change>
}

/** State of a run whose application has its record. */
export interface Synced extends Checked {
  readonly uuid: string
}

/** State of a run whose changelog has its entry. */
export interface Recorded extends Synced {
  readonly changelogEntry: ChangelogEntry
}

/** Executes the step `name`, whose result is stored; a failure ends the upsert and names the step. */
export const makeStage = (name: string) =>
<A, I, E extends { readonly message: string }, R>(
  stored: Schema.Schema<A, I>,
  effect: (isRepeated: boolean) => Effect.Effect<A, E, R>,
  outcome: (result: A) => string | StepOutcome,
  state: string = ""
): Effect.Effect<A, UpsertFailed, R | Settings | Steps> =>
  Effect.mapError(
    executeDurableStep(name, stored, effect, outcome),
    ({ message }) => new UpsertFailed({ step: name, reason: message, state })
  )

/** Describes what exists once the application has its record and its port. */
export const describeState = ({ found, plan: { port }, uuid }: Synced) => {
  const taken = Option.match(port, { onNone: () => "", onSome: (number) => `, and its port ${number} is taken` })
  return `The application ${
    Option.isNone(found) ? "exists now" : "is updated"
  } (${uuid})${taken}: running upsert again goes on from there`
}

/** Plan of a step, with what it adds to the state of the plan. */
interface Planned<Decision> extends Partial<Pick<Seen, "changes" | "envs">> {
  readonly part: Description
  /** Executed unchanged by a run that this plan binds; none if the run has to decide. */
  readonly decision?: Option.Option<Decision>
  /** Description that binds the run, also after a restart. */
  readonly words?: Option.Option<string>
}

/** Ties of a step to its plan and to earlier attempts of its run. */
interface StepBinding<Decision> {
  /** Without one, the step reads and decides when it is reached. */
  readonly decision: Option.Option<Decision>
  readonly matches: MatchesPlan
  readonly intent: Intent
  readonly stage: ReturnType<typeof makeStage>
}

/** Executes steps; `planned` binds them. */
type Apply<In, Out> = (state: In, planned: PlannedSteps) => Effect.Effect<Out, UpsertFailed, RunServices>

/** Step of an upsert, or several in sequence: plan and run walk the same ones. */
export interface UpsertStep<In, Out> {
  /** Decides without changing anything. The result executes the decisions. */
  readonly plan: (
    seen: Seen
  ) => Effect.Effect<{ readonly seen: Seen; readonly apply: Apply<In, Out> }, never, PlanServices>
  /** Decides and executes. */
  readonly apply: Apply<In, Out>
}

/**
 * Makes a step.
 * @param plan reads, decides and describes
 * @param apply executes the decision, or reads and decides again
 */
export const makeStep = <In, Out, Decision = never>(
  name: string,
  { apply, plan }: {
    readonly plan: (seen: Seen) => Effect.Effect<Planned<Decision>, never, PlanServices>
    readonly apply: (state: In, binding: StepBinding<Decision>) => Effect.Effect<Out, UpsertFailed, RunServices>
  }
): UpsertStep<In, Out> => {
  const decided = (decision: Option.Option<Decision>): Apply<In, Out> => (state, planned) =>
    Effect.flatMap(Steps, (steps) =>
      apply(state, {
        decision,
        matches: matchesPlan(planned, name),
        intent: recordIntent(steps, name),
        stage: makeStage(name)
      }))
  return {
    apply: decided(Option.none()),
    plan: (seen) =>
      Effect.map(
        plan(seen),
        ({ changes = [], decision = Option.none(), envs = seen.envs, part, words = Option.none() }) => ({
          apply: decided(decision),
          seen: {
            ...seen,
            envs,
            parts: [...seen.parts, { ...part, step: name }],
            changes: [...seen.changes, ...changes],
            planned: Option.match(words, {
              onNone: () => seen.planned,
              onSome: (text) => ({ ...seen.planned, [name]: text })
            })
          }
        })
      )
  }
}

const inSequence =
  <In, Between, Out>(first: Apply<In, Between>, next: Apply<Between, Out>): Apply<In, Out> => (state, planned) =>
    Effect.flatMap(first(state, planned), (between) => next(between, planned))

/** Appends a step to those before it. */
export const andThen =
  <Between, Out>(next: UpsertStep<Between, Out>) => <In>(first: UpsertStep<In, Between>): UpsertStep<In, Out> => ({
    apply: inSequence(first.apply, next.apply),
    plan: (start) =>
      Effect.gen(function*() {
        const before = yield* first.plan(start)
        const { apply, seen } = yield* next.plan(before.seen)
        return { seen, apply: inSequence(before.apply, apply) }
      })
  })
