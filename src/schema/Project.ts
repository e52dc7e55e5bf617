import { Schema } from "effect"
import { OnUnhealthy, PullPolicy } from "./Deploy.ts"
import { flag, text, textOrNull } from "./described.ts"
import { DurationText } from "./DurationText.ts"
import { cut, quoted } from "./quoted.ts"

/** A directory under the projects root that Berth can deploy, or nearly. */
export const LocalProject = Schema.Struct({
  name: text("The name of the directory.", "hello"),
  path: text("Its absolute path on this machine.", "/home/ann/projects/hello"),
  hasImageFile: flag("Whether it has a Dockerfile or Containerfile."),
  hasComposeFile: flag("Whether it has a compose file."),
  hasPlatformJson: flag("Whether it has a platform.json."),
  containerStatus: Schema.Literal("none", "partial", "configured").annotations({
    description: "How much of what a deploy needs is there: nothing, a part, or all of it."
  }),
  tarFile: textOrNull("The name of its image archive; null when it has none.", "hello.tar"),
  serverId: textOrNull(
    "The server that container.json names: its id, or what is written there where none is stored; null without one.",
    "1"
  ),
  remotePath: text("Where it is deployed on a server.", "~/containers/hello")
}).annotations({ identifier: "LocalProject" })
export interface LocalProject extends Schema.Schema.Type<typeof LocalProject> {}

/** `container.json`: how a project is deployed. A key that Berth does not know is refused. */
export const ContainerConfig = Schema.Struct({
  serverId: Schema.optional(Schema.NullOr(Schema.String)),
  remotePath: Schema.optional(Schema.NullOr(Schema.String)),
  files: Schema.optional(Schema.NullOr(Schema.Array(Schema.String))),
  healthTimeout: Schema.optional(Schema.NullOr(DurationText)),
  pull: Schema.optional(Schema.NullOr(PullPolicy)),
  onUnhealthy: Schema.optional(Schema.NullOr(OnUnhealthy)),
  allowLinks: Schema.optional(Schema.NullOr(Schema.Boolean))
}).annotations({ identifier: "ContainerConfig" })
export interface ContainerConfig extends Schema.Schema.Type<typeof ContainerConfig> {}

/** File names that make a directory a container project, in the order in which they are looked for. */
export const imageFileNames = ["Dockerfile", "Containerfile"] as const
export const composeFileNames = ["compose.yml", "compose.yaml", "docker-compose.yml", "docker-compose.yaml"] as const
export const platformFileName = "platform.json"
export const containerConfigName = "container.json"

/** The names of the files by which a project is known, beside its image archives. */
export const lookedForNames: ReadonlyArray<string> = [
  ...imageFileNames,
  ...composeFileNames,
  platformFileName,
  containerConfigName
]

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

/** The caller may only work under the projects root, and the path leads elsewhere. */
export class PathOutside extends Schema.TaggedError<PathOutside>()("PathOutside", {
  path: Schema.String,
  root: Schema.String,
  caller: Schema.String,
  isOperator: Schema.Boolean
}) {
  readonly status = 403
  override get message() {
    const place = `${quoted(this.path)} is not under ${cut(this.root)}`
    return `${place}, where the token ${quoted(this.caller)} may work, and nothing was done. ` +
      "Take a directory there, or one that a link there leads to" +
      (this.isOperator ? ", or let operators leave that directory: projects.anywhere: true in the settings" : "")
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
