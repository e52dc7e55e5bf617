import { Array, Effect, Option } from "effect"
import {
  type AppEnv,
  type CreateApp,
  Disclosed,
  type PlatformApp,
  type PlatformFailure,
  type PlatformRecord,
  type Raw,
  type RecordField,
  recordFields
} from "../../schema/applications.ts"
import {
  type BuildPack,
  declaredFields,
  type EntryContext,
  exposedPorts,
  hostPortKey,
  publishDefaults
} from "../../schema/declaredFields.ts"
import { CurrentCaller, maySeeValues } from "../../services/access/Caller.ts"
import { discloseTo, type Disclosure } from "../../services/platform/disclosure.ts"
import { type AppFields, Platform } from "../../services/platform/Platform.ts"
import { logScrubbedWarning, secretsInUse, Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { withAnswerBudget } from "../../services/upstream/Upstream.ts"
import type { AppPlan } from "./platformFile.ts"

/** Settings for every new application. */
export interface CreateDefaults {
  readonly projectUuid: string
  readonly serverUuid: string
  readonly privateKeyUuid: string
}

/** An application to create; its project may declare what a request may not. */
export interface NewApp extends Omit<CreateApp, "buildpack"> {
  readonly buildpack?: BuildPack | null | undefined
}

const orElse = (text: string | null | undefined, fallback: string) =>
  text === undefined || text === null || text === "" ? fallback : text

/** Fields to create an application with. */
export const buildCreateFields = (app: NewApp, defaults: CreateDefaults): AppFields => ({
  project_uuid: defaults.projectUuid,
  server_uuid: defaults.serverUuid,
  environment_name: "production",
  name: app.name,
  git_repository: app.gitRepo,
  git_branch: orElse(app.gitBranch, declaredFields.branch.fallback),
  build_pack: orElse(app.buildpack, declaredFields.buildpack.fallback),
  ports_exposes: orElse(app.portsExposes, exposedPorts.value),
  instant_deploy: false,
  private_key_uuid: defaults.privateKeyUuid,
  base_directory: orElse(app.baseDirectory, declaredFields.baseDirectory.fallback),
  ...(app.buildpack === "composestack"
    ? { compose_location: orElse(app.composeLocation, declaredFields.composeLocation.fallback) }
    : {}),
  ...(app.isStatic === true
    ? { is_static: true, publish_directory: orElse(app.publishDir, publishDefaults.site) }
    : {})
})

/** Record keys that a request to create an application determines. */
export const requestedKeys: ReadonlyArray<string> = Object.keys(
  buildCreateFields(
    { name: "", gitRepo: "", buildpack: "composestack", isStatic: true },
    { projectUuid: "", serverUuid: "", privateKeyUuid: "" }
  )
)

/** Filter of the platform's answers for the caller of the current request. */
const disclosure: Effect.Effect<Disclosure, never, Settings> = Effect.gen(function*() {
  const { role } = yield* CurrentCaller
  return discloseTo({ secrets: yield* secretsInUse, seesValues: maySeeValues(role) })
})

/** Answer of a call as it is relayed to the caller. Every answer of the platform passes through here. */
export const relayAnswer = <E, R>(call: Effect.Effect<unknown, E, R>): Effect.Effect<unknown, E, R | Settings> =>
  Effect.flatMap(call, (answer) => Effect.map(disclosure, ({ body }) => body(answer)))

/**
 * Port of the application, from its environment variables; the port of its previews is ignored. Of two variables of this
 * name Compose takes the last one.
 */
export const findHostPort = (envs: ReadonlyArray<AppEnv>): Option.Option<AppEnv> =>
  Option.fromNullable(envs.findLast(({ key, record }) => key === hostPortKey && record["is_preview"] !== true))

/** Highest port that there is. */
export const highestPort = 65535

/** Most ports of a range that count. */
const mostPorts = 1_000

/**
 * Ports of the host that a value names: one, a range, or either as Compose publishes it (`127.0.0.1:2044`, `2044:80/tcp`),
 * perhaps in quotes.
 */
export const parseHostPorts = (value: string): ReadonlyArray<number> => {
  const text = value.trim().replace(/^(["'])(.*)\1$/, "$2").trim()
  const published = text.replace(/^(?:\[[^\]]*\]|\d{1,3}(?:\.\d{1,3}){3}):/, "")
  const [, from, to] = /^(\d+)(?:-(\d+))?/.exec(published) ?? []
  const [first, last] = [Number(from ?? 0), Number(to ?? from ?? 0)]
  return first < 1 || first > highestPort ? [] : Array.range(first, Math.min(last, highestPort, first + mostPorts - 1))
}

/** The port that a value of the port variable names, in whatever notation; undefined for none and for a range. */
export const findOnlyPort = (value: string): number | undefined => {
  const [only, ...others] = parseHostPorts(value)
  return others.length === 0 ? only : undefined
}

/** True if a value of the port variable names this port alone. */
export const namesPort = (value: string, port: number): boolean => findOnlyPort(value) === port

const appsAtOnce = 16

const hostPortText = (envs: ReadonlyArray<AppEnv>): Option.Option<string> =>
  Option.flatMap(
    findHostPort(envs),
    ({ value }) => Disclosed.$is("Known")(value) ? Option.some(value.value) : Option.none()
  )

/**
 * Lists every application with its port and its environment variables, as far as the caller may read them; unreadable
 * ones are empty.
 */
export const listApplications = Effect.fn("listApplications")(function*(): Effect.fn.Return<
  ReadonlyArray<PlatformApp>,
  PlatformFailure | SettingsError,
  Platform | Settings
> {
  const platform = yield* Platform
  const shown = yield* disclosure
  return yield* Effect.forEach(yield* platform.applications, (app) =>
    Effect.map(
      platform.envs(app.uuid).pipe(
        Effect.tapError((error) => logScrubbedWarning(`The variables of "${app.name}" are unknown: ${error.message}`)),
        Effect.orElseSucceed(() => [])
      ),
      (envs): PlatformApp => ({
        ...shown.record(app.raw),
        _host_port: Option.getOrNull(Option.map(hostPortText(envs), shown.text)),
        _envs: envs.map(({ record }) => shown.record(record))
      })
    ), { concurrency: appsAtOnce })
}, withAnswerBudget)

/** The application with exactly this name. */
export const findApplication = Effect.fn("findApplication")(function*(
  name: string
): Effect.fn.Return<Option.Option<PlatformRecord>, PlatformFailure | SettingsError, Platform> {
  const platform = yield* Platform
  return Array.findFirst(yield* platform.applications, (app) => app.name === name)
})

/** Settings for new applications; looks up the default server only if none is named. */
export const readCreateDefaults = Effect.fn("readCreateDefaults")(function*(
  serverUuid: string | null | undefined
): Effect.fn.Return<CreateDefaults, SettingsError, Settings> {
  const settings = yield* Settings
  return {
    projectUuid: yield* settings.get("platform.projectUuid"),
    serverUuid: serverUuid === undefined || serverUuid === null || serverUuid === ""
      ? yield* settings.get("platform.defaultServerUuid")
      : serverUuid,
    privateKeyUuid: yield* settings.get("platform.privateKeyUuid")
  }
})

/** Shows the application with exactly this name, as far as the caller may read it. */
export const showApplication = Effect.fn("showApplication")(function*(
  name: string
): Effect.fn.Return<Raw | null, PlatformFailure | SettingsError, Platform | Settings> {
  const { record } = yield* disclosure
  return Option.match(yield* findApplication(name), { onNone: () => null, onSome: ({ raw }) => record(raw) })
})

/** Creates an application; returns the platform's answer. */
export const createApplication = Effect.fn("createApplication")(function*(
  app: CreateApp
): Effect.fn.Return<unknown, PlatformFailure | SettingsError, Platform | Settings> {
  const platform = yield* Platform
  return yield* relayAnswer(
    platform.createApplication(buildCreateFields(app, yield* readCreateDefaults(app.serverUuid)))
  )
})

/** A value of a record, in a plan or on the platform. */
export type RecordValue = string | number | boolean | null | undefined

/** The field that is derived from the repository's owner, the directory and the settings. */
const repository: RecordField["name"] = "repo"

/** The value of a field that an entry does not declare. */
export const resolveDefault = ({ fallback }: RecordField, entry: EntryContext): RecordValue =>
  typeof fallback === "function" ? fallback(entry) : fallback

/** Planned value of a field; undefined if it is neither declared nor has a default. */
export const resolvePlannedValue = (field: RecordField, { entry, gitUrl }: AppPlan): RecordValue =>
  field.name === repository ? gitUrl : entry[field.name] ?? resolveDefault(field, entry)

export const isUnset = (value: RecordValue) => value === undefined || value === null || value === ""

/** Live value of a field; an unset one is replaced by the value that the platform means by it. */
export const readLiveValue = (
  { record }: RecordField,
  { entry }: { readonly entry: EntryContext },
  app: PlatformRecord
): RecordValue => {
  const value = app[record.key]
  return isUnset(value) && "absent" in record ? record.absent(entry) ?? value : value
}

const writtenFor = ({ record }: RecordField): ReadonlyArray<string> | undefined =>
  "writtenFor" in record ? record.writtenFor : undefined
const recordedFor = (field: RecordField): ReadonlyArray<string> | undefined =>
  "recordedFor" in field.record ? field.record.recordedFor : writtenFor(field)
const comparedFor = (field: RecordField): ReadonlyArray<string> | undefined =>
  "comparedFor" in field.record ? field.record.comparedFor : recordedFor(field)

const isFor = (buildPacks: ReadonlyArray<string> | undefined, buildPack: string | undefined) =>
  buildPacks === undefined || (buildPack !== undefined && buildPacks.includes(buildPack))

/** Fields in the order of drift's answer: the repository comes last. */
export const inDriftOrder: ReadonlyArray<RecordField> = [
  ...recordFields.filter(({ name }) => name !== repository),
  ...recordFields.filter(({ name }) => name === repository)
]

/** Fields that drift compares, selected by the declared build pack and not by the default one. */
export const listDriftFields = ({ entry }: { readonly entry: EntryContext }): ReadonlyArray<RecordField> =>
  inDriftOrder.filter((field) =>
    isFor(comparedFor(field), entry.buildpack) && (!("comparedIf" in field.record) || field.record.comparedIf(entry))
  )

/** True if the field is declared or has a default; others are left alone. */
export const isPlanned = (plan: AppPlan) => (field: RecordField) => resolvePlannedValue(field, plan) !== undefined

/** The fields whose changes an update records, in the order of the changelog. */
export const listUpsertFields = (plan: AppPlan): ReadonlyArray<RecordField> =>
  recordFields.filter((field) => isFor(recordedFor(field), plan.buildPack)).filter(isPlanned(plan))

/** The fields that an update writes to every application. */
export const listAlwaysWritten = (plan: AppPlan): ReadonlyArray<RecordField> =>
  recordFields.filter((field) => writtenFor(field) === undefined).filter(isPlanned(plan))

/** The fields that an update writes to applications of the plan's build pack only. */
export const listWrittenForBuildPack = (plan: AppPlan): ReadonlyArray<RecordField> =>
  recordFields.filter((field) => writtenFor(field)?.includes(plan.buildPack)).filter(isPlanned(plan))

/** The fields that an update writes, in the order of its body. */
export const listWrittenFields = (plan: AppPlan): ReadonlyArray<RecordField> => [
  ...listAlwaysWritten(plan),
  ...listWrittenForBuildPack(plan)
]

/** Recorded field by its name in `platform.json`. */
export const findField = (name: string): RecordField | undefined => recordFields.find((field) => field.name === name)
