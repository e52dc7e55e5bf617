import { Option } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import type { PlatformRecord } from "../../schema/PlatformApp.ts"
import type { AppFields } from "../../services/platform/Platform.ts"
import type { AppPlan } from "./appPlan.ts"
import type { NewApp } from "./createFields.ts"

/** The fields that an existing application is brought to. */
export const updateFields = (plan: AppPlan): AppFields => ({
  build_pack: plan.buildPack,
  git_repository: plan.gitUrl,
  git_branch: plan.branch,
  base_directory: plan.baseDirectory,
  is_static: plan.isStatic,
  publish_directory: Option.getOrElse(plan.publishDir, () => (plan.isStatic ? "dist" : "/")),
  ports_exposes: "3000",
  ...(plan.buildPack === "composestack" ? { compose_location: plan.composeLocation } : {})
})

/** What a new application is asked for as. */
export const newApp = (plan: AppPlan, serverUuid: string): NewApp => ({
  name: plan.name,
  buildpack: plan.buildPack,
  gitRepo: plan.gitUrl,
  gitBranch: plan.branch,
  isStatic: plan.isStatic,
  publishDir: Option.getOrUndefined(plan.publishDir),
  baseDirectory: plan.baseDirectory,
  composeLocation: plan.composeLocation,
  serverUuid
})

/** What a new application needs once it exists; nothing when there is nothing to follow up. */
export const followUpFields = (plan: AppPlan): Option.Option<AppFields> => {
  const fields = {
    ...(plan.isStatic
      ? { is_static: true, publish_directory: Option.getOrElse(plan.publishDir, () => "/dist") }
      : {}),
    ...(plan.buildPack === "composestack" ? {} : { domains: "" })
  }
  return Object.keys(fields).length === 0 ? Option.none() : Option.some(fields)
}

interface Compared {
  readonly field: Exclude<keyof PlatformRecord, "raw">
  readonly label: string
  /** What an absent value on the platform means. */
  readonly absent?: unknown
}

const composeFields: ReadonlyArray<Compared> = [{ field: "compose_location", label: "Compose file" }]
const siteFields = (isStatic: boolean): ReadonlyArray<Compared> => [
  { field: "is_static", label: "Static site", absent: false },
  { field: "publish_directory", label: "Publish directory", ...(isStatic ? {} : { absent: "/" }) }
]

const compared = ({ buildPack, isStatic }: AppPlan): ReadonlyArray<Compared> => [
  { field: "build_pack", label: "Buildpack" },
  { field: "git_repository", label: "Git repository" },
  { field: "git_branch", label: "Branch" },
  { field: "base_directory", label: "Base directory" },
  ...(buildPack === "composestack" ? composeFields : siteFields(isStatic))
]

const isUnset = (value: unknown) => value === undefined || value === null || value === ""

/** What an update will change of an application's build. */
export const changesOf = (plan: AppPlan, app: PlatformRecord): ReadonlyArray<Change> => {
  const wanted = updateFields(plan)
  return compared(plan).flatMap(({ absent, field, label }) => {
    const old = app[field]
    const next = wanted[field]
    return (isUnset(old) ? absent : old) === next ? [] : [{ field, label, old: old ?? null, new: next }]
  })
}
