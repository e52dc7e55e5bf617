import { Option } from "effect"
import { Disclosed } from "../../schema/Disclosed.ts"
import type { DriftDiff, DriftUnknown } from "../../schema/Drift.ts"
import type { AppEnv, PlatformRecord } from "../../schema/PlatformApp.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { type AppField, buildFields, comparedInDrift, servingFields } from "../applications/fields.ts"
import { hostPortOf } from "../applications/hostPort.ts"

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
    onNone: () => local === "" ? [] : [row(servingFields.port, local, known("(not set)"))]
  })
}

const domainRows = (plan: AppPlan, { fqdn }: PlatformRecord): ReadonlyArray<Row> =>
  Option.isSome(plan.domain) && fqdn !== undefined && fqdn !== null && fqdn !== ""
    ? [row(servingFields.domain, `https://${plan.domain.value}`, known(fqdn))]
    : []

/**
 * Where an application differs from what its entry declares, and what cannot be told. `envs` is nothing when they could
 * not be read: the port is then left out.
 */
export const driftDiffs = (
  plan: AppPlan,
  app: PlatformRecord,
  envs: Option.Option<ReadonlyArray<AppEnv>>
): { readonly diffs: ReadonlyArray<DriftDiff>; readonly unknown: ReadonlyArray<DriftUnknown> } => {
  const rows = [
    ...buildRows(plan, app),
    ...Option.match(envs, { onNone: () => [], onSome: (all) => portRows(plan, all) }),
    ...domainRows(plan, app)
  ]
  return {
    diffs: rows.flatMap(({ field, label, local, remote }) => {
      const value = Disclosed.$is("Known")(remote) ? remote.value : ""
      return Disclosed.$is("Hidden")(remote) || value === local ? [] : [{ field, label, local, remote: value }]
    }),
    unknown: rows.flatMap(({ field, label, remote }) =>
      Disclosed.$is("Hidden")(remote) ? [{ field, label, reason: remote.reason }] : []
    )
  }
}
