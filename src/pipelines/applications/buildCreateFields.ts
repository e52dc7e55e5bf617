import type { CreateApp } from "../../schema/applications/CreateApp.ts"
import type { BuildPack } from "../../schema/applications/DeclaredField.ts"
import { declaredFields, exposedPorts, publishDefaults } from "../../schema/applications/declaredFields.ts"
import type { AppFields } from "../../services/platform/Platform.ts"

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
