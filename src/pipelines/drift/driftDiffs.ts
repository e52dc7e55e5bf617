import { Option } from "effect"
import { Disclosed } from "../../schema/Disclosed.ts"
import type { DriftDiff, DriftUnknown } from "../../schema/Drift.ts"
import type { AppEnv, PlatformRecord } from "../../schema/PlatformApp.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { hostPortKey, hostPortOf } from "../applications/hostPort.ts"

interface Row {
  readonly field: string
  readonly label: string
  readonly local: string
  readonly remote: Disclosed<string>
}

const known = (value: string | null | undefined): Disclosed<string> => Disclosed.Known({ value: value ?? "" })
const row = (field: string, label: string, local: string, remote: Disclosed<string>): Row => ({
  field,
  label,
  local,
  remote
})

// What is compared is what is written: an entry without a build pack differs from whatever the platform builds with.
const buildRows = (plan: AppPlan, app: PlatformRecord): ReadonlyArray<Row> => {
  const buildPack = Option.getOrElse(plan.declaredBuildPack, () => "")
  return [
    row("buildpack", "Buildpack", buildPack, known(app.build_pack)),
    row("branch", "Branch", plan.branch, known(app.git_branch)),
    row("baseDirectory", "Base directory", plan.baseDirectory, known(app.base_directory)),
    ...(buildPack === "composestack"
      ? [row("composeLocation", "Compose file", plan.composeLocation, known(app.compose_location))]
      : []),
    ...(buildPack === "autopack"
      ? [row("static", "Static site", String(plan.isStatic), known(String(app.is_static === true)))]
      : []),
    ...(buildPack === "autopack" && plan.isStatic
      ? [
        row(
          "publishDir",
          "Publish directory",
          Option.getOrElse(plan.publishDir, () => "dist"),
          known(app.publish_directory)
        )
      ]
      : []),
    row("repo", "Git repository", plan.gitUrl, known(app.git_repository))
  ]
}

const portRows = (plan: AppPlan, envs: ReadonlyArray<AppEnv>): ReadonlyArray<Row> => {
  const local = Option.match(plan.port, { onNone: () => "", onSome: String })
  return Option.match(hostPortOf(envs), {
    onSome: ({ value }) => [row("port", hostPortKey, local, value)],
    onNone: () => local === "" ? [] : [row("port", hostPortKey, local, known("(not set)"))]
  })
}

const domainRows = (plan: AppPlan, { fqdn }: PlatformRecord): ReadonlyArray<Row> =>
  Option.isSome(plan.domain) && fqdn !== undefined && fqdn !== null && fqdn !== ""
    ? [row("domain", "Domain (FQDN)", `https://${plan.domain.value}`, known(fqdn))]
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
