import { Option } from "effect"
import { publishDefaults } from "../../schema/AppDefaults.ts"
import type { PlatformRecord } from "../../schema/PlatformApp.ts"
import type { AppPlan } from "./appPlan.ts"
import { hostPortKey } from "./hostPort.ts"

/** A field of an application: one that its entry declares, and that its record on the platform has under another name. */
export interface AppField {
  /** Its name in `platform.json` and in a drift answer. */
  readonly name: string
  readonly label: string
  readonly record: Exclude<keyof PlatformRecord, "raw">
  /** What it is to be, the defaults filled in. */
  readonly declared: (plan: AppPlan) => string | boolean
}

const isCompose = ({ buildPack }: AppPlan) => buildPack === "composestack"

/** The directory that a site is served from, as an update sets it. */
export const publishDirectory = ({ isStatic, publishDir }: AppPlan): string =>
  Option.getOrElse(publishDir, () => isStatic ? publishDefaults.site : publishDefaults.other)

/** What an application is built from, field by field. */
export const buildFields = {
  buildPack: { name: "buildpack", label: "Buildpack", record: "build_pack", declared: (plan) => plan.buildPack },
  branch: { name: "branch", label: "Branch", record: "git_branch", declared: (plan) => plan.branch },
  baseDirectory: {
    name: "baseDirectory",
    label: "Base directory",
    record: "base_directory",
    declared: (plan) => plan.baseDirectory
  },
  composeLocation: {
    name: "composeLocation",
    label: "Compose file",
    record: "compose_location",
    declared: (plan) => plan.composeLocation
  },
  isStatic: { name: "static", label: "Static site", record: "is_static", declared: (plan) => plan.isStatic },
  publishDir: {
    name: "publishDir",
    label: "Publish directory",
    record: "publish_directory",
    declared: publishDirectory
  },
  repository: { name: "repo", label: "Git repository", record: "git_repository", declared: (plan) => plan.gitUrl }
} satisfies Record<string, AppField>

/** What is set apart from the build: the port as a variable, the domain where the application is served. */
export const servingFields = {
  port: { name: "port", label: hostPortKey },
  domain: { name: "domain", label: "Domain (FQDN)" }
} as const

/** The fields that drift compares, in the order of its answer; `declaredBuildPack` decides, as it is what is written. */
export const comparedInDrift = ({ declaredBuildPack, isStatic }: AppPlan): ReadonlyArray<AppField> => {
  const is = (buildPack: string) => Option.contains(declaredBuildPack, buildPack)
  const { baseDirectory, branch, buildPack, composeLocation, isStatic: site, publishDir, repository } = buildFields
  return [
    buildPack,
    branch,
    baseDirectory,
    ...(is("composestack") ? [composeLocation] : []),
    ...(is("autopack") ? [site] : []),
    ...(is("autopack") && isStatic ? [publishDir] : []),
    repository
  ]
}

/** The fields whose changes an update records, in the order of the changelog. */
export const comparedInUpsert = (plan: AppPlan): ReadonlyArray<AppField> => {
  const { baseDirectory, branch, buildPack, composeLocation, isStatic, publishDir, repository } = buildFields
  return [
    buildPack,
    repository,
    branch,
    baseDirectory,
    ...(isCompose(plan) ? [composeLocation] : [isStatic, publishDir])
  ]
}

/** The fields that an update writes, in the order of its body. */
export const writtenFields = (plan: AppPlan): ReadonlyArray<AppField> => {
  const { baseDirectory, branch, buildPack, composeLocation, isStatic, publishDir, repository } = buildFields
  return [
    buildPack,
    repository,
    branch,
    baseDirectory,
    isStatic,
    publishDir,
    ...(isCompose(plan) ? [composeLocation] : [])
  ]
}
