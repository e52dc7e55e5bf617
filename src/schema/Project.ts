import { Schema } from "effect"
import { DurationText } from "./DurationText.ts"
import { cut, quoted } from "./quoted.ts"

/** A directory under the projects root that Berth can deploy, or nearly. */
export const LocalProject = Schema.Struct({
  name: Schema.String,
  path: Schema.String,
  hasImageFile: Schema.Boolean,
  hasComposeFile: Schema.Boolean,
  hasPlatformJson: Schema.Boolean,
  containerStatus: Schema.Literal("none", "partial", "configured"),
  tarFile: Schema.NullOr(Schema.String),
  serverId: Schema.NullOr(Schema.String),
  remotePath: Schema.String
}).annotations({ identifier: "LocalProject" })
export interface LocalProject extends Schema.Schema.Type<typeof LocalProject> {}

/** `container.json`: how a project is deployed. A key that Berth does not know is refused. */
export const ContainerConfig = Schema.Struct({
  serverId: Schema.optional(Schema.NullOr(Schema.String)),
  remotePath: Schema.optional(Schema.NullOr(Schema.String)),
  files: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  healthTimeout: Schema.optional(Schema.NullOr(DurationText)),
  allowLinks: Schema.optional(Schema.NullOr(Schema.Boolean))
}).annotations({ identifier: "ContainerConfig" })
export interface ContainerConfig extends Schema.Schema.Type<typeof ContainerConfig> {}

/** File names that make a directory a container project, in the order in which they are looked for. */
export const imageFileNames = ["Dockerfile", "Containerfile"] as const
export const composeFileNames = ["compose.yml", "compose.yaml", "docker-compose.yml", "docker-compose.yaml"] as const
export const platformFileName = "platform.json"
export const containerConfigName = "container.json"

/** The path is relative, missing, or no directory. */
export class ProjectPathInvalid extends Schema.TaggedError<ProjectPathInvalid>()("ProjectPathInvalid", {
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `projectPath ${quoted(this.path)} ${this.reason}`
  }
}

const predicate = /^(is|has|must|cannot|needs) /

/** A file of the project cannot be used as it is. */
export class ProjectFileInvalid extends Schema.TaggedError<ProjectFileInvalid>()("ProjectFileInvalid", {
  file: Schema.String,
  reason: Schema.String
}) {
  readonly status = 422
  override get message() {
    return predicate.test(this.reason) ? `${cut(this.file)} ${this.reason}` : `${cut(this.file)}: ${this.reason}`
  }
}
