import { Option } from "effect"
import { declaredFields } from "../../schema/applications/declaredFields.ts"
import type { DriftDiff, DriftUnknown } from "../../schema/applications/Drift.ts"
import type { AppEnv, PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../schema/basics/Disclosed.ts"
import type { AppPlan } from "./appPlan.ts"
import {
  findField,
  isPlanned,
  listDriftFields,
  readLiveValue,
  type RecordValue,
  resolvePlannedValue
} from "./fields.ts"
import { findHostPort } from "./hostPort.ts"

/** Plan of the last upsert, with the record as it is compared with that plan. */
export interface AppliedPlan {
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
    onSome: ({ value }) => [row(port, local, value)],
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
