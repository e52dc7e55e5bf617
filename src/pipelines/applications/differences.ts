import { Option } from "effect"
import { type AppEnv, Disclosed, type PlatformRecord, type RecordField } from "../../schema/applications.ts"
import { declaredFields, exposedPorts, hostPortKey, publishDefaults } from "../../schema/declaredFields.ts"
import type { Change, DriftDiff, DriftUnknown, PlanChange, StayingDifference } from "../../schema/upsert.ts"
import type { AppFields } from "../../services/platform/Platform.ts"
import {
  buildCreateFields,
  type CreateDefaults,
  findField,
  findHostPort,
  isPlanned,
  listAlwaysWritten,
  listDriftFields,
  listUpsertFields,
  listWrittenFields,
  listWrittenForBuildPack,
  namesPort,
  readLiveValue,
  type RecordValue,
  requestedKeys,
  resolvePlannedValue
} from "./applications.ts"
import { type AppPlan } from "./platformFile.ts"

const valuesOf = (plan: AppPlan, fields: ReadonlyArray<RecordField>): AppFields =>
  Object.fromEntries(fields.map((field) => [field.record.key, resolvePlannedValue(field, plan)]))

/** Fields to update on an existing application, in the order of the platform's call. */
export const buildUpdateFields = (plan: AppPlan): AppFields => ({
  ...valuesOf(plan, listAlwaysWritten(plan)),
  [exposedPorts.key]: exposedPorts.value,
  ...valuesOf(plan, listWrittenForBuildPack(plan))
})

/** Fields to create an application with: those of a request, and other declared ones. */
export const buildDeclaredCreateFields = (plan: AppPlan, defaults: CreateDefaults): AppFields => {
  const { branch, entry, gitUrl, name } = plan
  return {
    ...valuesOf(plan, listWrittenFields(plan).filter(({ record }) => !requestedKeys.includes(record.key))),
    ...buildCreateFields({
      name,
      buildpack: plan.buildPack,
      gitRepo: gitUrl,
      gitBranch: branch,
      isStatic: entry.static,
      publishDir: entry.publishDir,
      baseDirectory: entry.baseDirectory,
      composeLocation: entry.composeLocation
    }, defaults)
  }
}

/** Fields to write after an application is created, if there are any. */
export const followUpFields = (plan: AppPlan): Option.Option<AppFields> => {
  const { publishDir = publishDefaults.followUp, static: isStatic } = plan.entry
  const fields = {
    ...(isStatic === true ? { is_static: true, publish_directory: publishDir } : {}),
    ...(plan.buildPack === "composestack" ? {} : { domains: "" })
  }
  return Object.keys(fields).length === 0 ? Option.none() : Option.some(fields)
}

/** The differences between an application and its plan, in some fields. */
export const compareFields = (
  fields: ReadonlyArray<RecordField>,
  plan: AppPlan,
  app: PlatformRecord
): ReadonlyArray<Change> =>
  fields.flatMap((field) => {
    const next = resolvePlannedValue(field, plan)
    return readLiveValue(field, plan, app) === next
      ? []
      : [{ field: field.record.key, label: field.label, old: app[field.record.key] ?? null, new: next }]
  })

/** Changes that an update makes to an application's build. */
export const computeBuildChanges = (plan: AppPlan, app: PlatformRecord): ReadonlyArray<Change> =>
  compareFields(listUpsertFields(plan), plan, app)

/** Plan of the last upsert, with the record as it is compared with that plan. */
interface AppliedPlan {
  readonly plan: AppPlan
  readonly app: PlatformRecord
}

interface Row {
  readonly field: string
  readonly label: string
  readonly local: string
  readonly remote: Disclosed<string>
}

interface Named {
  readonly name: string
  readonly label: string
}

const { domain, port } = {
  domain: { name: "domain", label: declaredFields.domain.label },
  port: { name: "port", label: declaredFields.port.label }
}

const known = (value: string): Disclosed<string> => Disclosed.Known({ value })
const row = ({ label, name }: Named, local: string, remote: Disclosed<string>): Row => ({
  field: name,
  label,
  local,
  remote
})

const asText = (value: RecordValue): string => String(value ?? "")

const buildRows = (plan: AppPlan, app: PlatformRecord): ReadonlyArray<Row> =>
  listDriftFields(plan).filter(isPlanned(plan)).map((field) => {
    // An entry without a build pack differs from any that the platform builds with.
    const isUndeclared = field.name === "buildpack" && plan.entry.buildpack === undefined
    const local = isUndeclared ? "" : asText(resolvePlannedValue(field, plan))
    return row(field, local, known(asText(readLiveValue(field, plan, app))))
  })

const portRows = (plan: AppPlan, envs: ReadonlyArray<AppEnv>): ReadonlyArray<Row> => {
  const local = Option.match(plan.port, { onNone: () => "", onSome: String })
  return Option.match(findHostPort(envs), {
    // The same port in another notation, such as one with an address, is no difference.
    onSome: ({ value }) => [
      row(
        port,
        local,
        Disclosed.$is("Known")(value) && Option.exists(plan.port, (number) => namesPort(value.value, number))
          ? known(local)
          : value
      )
    ],
    onNone: () => local === "" ? [] : [row(port, local, known(notSet))]
  })
}

const domainRows = (plan: AppPlan, { fqdn }: PlatformRecord): ReadonlyArray<Row> =>
  Option.isSome(plan.domain) && fqdn !== undefined && fqdn !== null && fqdn !== ""
    ? [row(domain, domainOf(plan), known(fqdn))]
    : []

const notSet = "(not set)"
const domainOf = ({ domain }: AppPlan): string =>
  Option.match(domain, { onNone: () => "", onSome: (host) => `https://${host}` })

/** Value of a field at the last upsert, with the live one in the same spelling. */
const appliedTo = (
  name: string,
  remote: string,
  { app, plan }: AppliedPlan
): readonly [applied: string, now: string] => {
  if (name === port.name) {
    return [Option.match(plan.port, { onNone: () => "", onSome: String }), remote === notSet ? "" : remote]
  }
  if (name === domain.name) return [domainOf(plan), asText(app.fqdn)]
  const field = findField(name)
  return field === undefined
    ? ["", remote]
    : [asText(resolvePlannedValue(field, plan)), asText(readLiveValue(field, plan, app))]
}

const history = (name: string, local: string, remote: string, applied: AppliedPlan | undefined) => {
  if (applied === undefined) return {}
  const [before, now] = appliedTo(name, remote, applied)
  const [here, there] = [local !== before, now !== before]
  return {
    applied: before,
    ...(here && there ? { changed: "both" as const } : here ? { changed: "here" as const } : there
      ? { changed: "there" as const } :
      {})
  }
}

/**
 * Compares an application with its declared entry. Without `envs`, which could not be read, the port is left out. With
 * the plan of the last upsert, each difference names the side that moved.
 */
export const computeDriftDiffs = (
  plan: AppPlan,
  app: PlatformRecord,
  envs: Option.Option<ReadonlyArray<AppEnv>>,
  applied?: AppliedPlan
): { readonly diffs: ReadonlyArray<DriftDiff>; readonly unknown: ReadonlyArray<DriftUnknown> } => {
  const rows = [
    ...buildRows(plan, app),
    ...Option.match(envs, { onNone: () => [], onSome: (all) => portRows(plan, all) }),
    ...domainRows(plan, app)
  ]
  return {
    diffs: rows.flatMap(({ field, label, local, remote }) => {
      const value = Disclosed.$is("Known")(remote) ? remote.value : ""
      return Disclosed.$is("Hidden")(remote) || value === local
        ? []
        : [{ field, label, local, remote: value, ...history(field, local, value, applied) }]
    }),
    unknown: rows.flatMap(({ field, label, remote }) =>
      Disclosed.$is("Hidden")(remote) ? [{ field, label, reason: remote.reason }] : []
    )
  }
}

const changedField = ({ field }: Pick<DriftDiff, "field">): string =>
  field === "port" ? hostPortKey : field === "domain" ? "fqdn" : findField(field)?.record.key ?? field

/** Changes of an upsert in fields that drift does not compare. */
export const filterUncomparedChanges = (changes: ReadonlyArray<PlanChange>, diffs: ReadonlyArray<DriftDiff>) => {
  const compared = diffs.map(changedField)
  return changes.filter(({ field }) => !compared.includes(field))
}

const remedyOf = ({ field, label, remote }: DriftDiff): string => {
  if (field === "buildpack") return `The entry names no build pack: add "buildpack" to platform.json`
  if (field === "port") return `The entry declares no port: add "port" to it, or delete ${label}`
  if (field === "domain") {
    return `The platform serves ${String(remote)} itself, and an upsert does not take that from it: change it there`
  }
  return "Change it on the platform"
}

/** Differences that remain after an upsert, for its plan. */
export const computeRemainingDifferences = (
  diffs: ReadonlyArray<DriftDiff>,
  changes: ReadonlyArray<PlanChange>
): ReadonlyArray<StayingDifference> => {
  const changed = changes.map(({ field }) => field)
  return diffs.filter((diff) => !changed.includes(changedField(diff))).map((diff) => ({
    target: diff.field === "port" ? "variable" : "application",
    field: diff.field,
    label: diff.label,
    declared: diff.local,
    live: diff.remote,
    remedy: remedyOf(diff)
  }))
}
