import { appDefaults, publishDefaults } from "../../schema/AppDefaults.ts"
import type { CreateApp } from "../../schema/CreateApp.ts"
import type { BuildPack } from "../../schema/PlatformFile.ts"
import type { AppFields } from "../../services/platform/Platform.ts"

/** What the settings say about every new application. */
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

/** The fields that a new application is created with. */
export const createFields = (app: NewApp, defaults: CreateDefaults): AppFields => ({
  project_uuid: defaults.projectUuid,
  server_uuid: defaults.serverUuid,
  environment_name: "production",
  name: app.name,
  git_repository: app.gitRepo,
  git_branch: orElse(app.gitBranch, appDefaults.branch),
  build_pack: orElse(app.buildpack, appDefaults.buildPack),
  ports_exposes: orElse(app.portsExposes, appDefaults.portsExposes),
  instant_deploy: false,
  private_key_uuid: defaults.privateKeyUuid,
  base_directory: orElse(app.baseDirectory, appDefaults.baseDirectory),
  ...(app.buildpack === "composestack"
    ? { compose_location: orElse(app.composeLocation, appDefaults.composeLocation) }
    : {}),
  ...(app.isStatic === true
    ? { is_static: true, publish_directory: orElse(app.publishDir, publishDefaults.site) }
    : {})
})
