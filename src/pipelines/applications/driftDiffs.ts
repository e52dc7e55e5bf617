import { Option } from "effect"
import { Disclosed } from "../../schema/Disclosed.ts"
import type { DriftDiff, DriftUnknown } from "../../schema/Drift.ts"
import type { AppEnv, PlatformRecord } from "../../schema/PlatformApp.ts"
import type { AppPlan } from "./appPlan.ts"
import { type AppField, buildFields, comparedInDrift, servingFields } from "./fields.ts"
import { hostPortOf } from "./hostPort.ts"

/** What the last upsert applied, and the application's record in the words of that. */
export interface Applied {
  readonly plan: AppPlan
  readonly app: PlatformRecord
}

interface Row {
  readonly field: string
  readonly label: string
  readonly local: string
  readonly remote: Disclosed<string>
}

type Named = Pick<AppField, "name" | "label">

const known = (value: string): Disclosed<string> => Disclosed.Known({ value })
const row = ({ label, name }: Named, local: string, remote: Disclosed<string>): Row => ({
  field: name,
  label,
  local,
  remote
})

const shown = (value: string | boolean | null | undefined): string => String(value ?? "")

const buildRows = (plan: AppPlan, app: PlatformRecord): ReadonlyArray<Row> =>
  comparedInDrift(plan).map((field) => {
    // An entry without a build pack differs from whatever the platform builds with.
    const isUndeclared = field === buildFields.buildPack && Option.isNone(plan.declaredBuildPack)
    const local = isUndeclared ? "" : shown(field.declared(plan))
    // What the platform does not say about a site is that it is none.
    const remote = field === buildFields.isStatic ? app.is_static === true : app[field.record]
    return row(field, local, known(shown(remote)))
  })

const portRows = (plan: AppPlan, envs: ReadonlyArray<AppEnv>): ReadonlyArray<Row> => {
  const local = Option.match(plan.port, { onNone: () => "", onSome: String })
  return Option.match(hostPortOf(envs), {
    onSome: ({ value }) => [row(servingFields.port, local, value)],
    onNone: () => local === "" ? [] : [row(servingFields.port, local, known(notSet))]
  })
}

const domainRows = (plan: AppPlan, { fqdn }: PlatformRecord): ReadonlyArray<Row> =>
  Option.isSome(plan.domain) && fqdn !== undefined && fqdn !== null && fqdn !== ""
    ? [row(servingFields.domain, domainOf(plan), known(fqdn))]
    : []

const notSet = "(not set)"
const domainOf = ({ domain }: AppPlan): string =>
  Option.match(domain, { onNone: () => "", onSome: (host) => `https://${host}` })

/** A field's value at the last upsert, with what the platform says of it now in the same words. */
const appliedTo = (name: string, remote: string, { app, plan }: Applied): readonly [applied: string, now: string] => {
  if (name === servingFields.port.name) {
    return [Option.match(plan.port, { onNone: () => "", onSome: String }), remote === notSet ? "" : remote]
  }
  if (name === servingFields.domain.name) return [domainOf(plan), shown(app.fqdn)]
  const field = Object.values(buildFields).find((one) => one.name === name)
  if (field === undefined) return ["", remote]
  return [shown(field.declared(plan)), field === buildFields.isStatic ? remote : shown(app[field.record])]
}

const history = (name: string, local: string, remote: string, applied: Applied | undefined) => {
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
 * Where an application differs from what its entry declares, and what cannot be told. `envs` is nothing when they could
 * not be read: the port is then left out. With what the last upsert applied, each difference says which side moved.
 */
export const driftDiffs = (
  plan: AppPlan,
  app: PlatformRecord,
  envs: Option.Option<ReadonlyArray<AppEnv>>,
  applied?: Applied
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
