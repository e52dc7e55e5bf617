import { Schema } from "effect"
import { OnUnhealthy, PullPolicy } from "./Deploy.ts"
import { flag, projectPath, text, textOrNull } from "./described.ts"
import { DurationText } from "./DurationText.ts"
import { cut, quoted } from "./quoted.ts"
import { strictBody } from "./strict.ts"

const Position = Schema.NullOr(Schema.Number)

/** Why a file of a project cannot be used, and where in it. */
export const FileProblem = Schema.Struct({
  file: text("The absolute path of the file.", "/home/ann/projects/hello/container.json"),
  line: Position.annotations({ description: "The line, counted from 1; null for the whole file.", examples: [3] }),
  column: Position.annotations({ description: "The column, counted from 1; null for the whole file.", examples: [5] }),
  reason: text("What is wrong there.", "is not valid JSON: a comma is expected here")
}).annotations({ identifier: "FileProblem" })
export interface FileProblem extends Schema.Schema.Type<typeof FileProblem> {}

const predicate = /^(is|has|must|cannot|needs) /

/** A sentence about a file that cannot be used. Its name is cut before the place is added, which must not be lost. */
export const fileProblemWords = ({ column, file, line, reason }: FileProblem): string =>
  `${cut(file)}${line === null ? "" : `:${line}:${column ?? 1}`}${predicate.test(reason) ? "" : ":"} ${reason}`

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
  remotePath: text("Where it is deployed on a server.", "~/containers/hello"),
  problems: Schema.optionalWith(Schema.Array(FileProblem), { exact: true }).annotations({
    description: "Why its container.json cannot be used, which then names no server; absent where it can."
  })
}).annotations({ identifier: "LocalProject" })
export interface LocalProject extends Schema.Schema.Type<typeof LocalProject> {}

/** Which directory to look at. */
export const InspectRequest = Schema.Struct({ projectPath }).annotations({
  identifier: "InspectRequest",
  ...strictBody
})
export interface InspectRequest extends Schema.Schema.Type<typeof InspectRequest> {}

const optional = <A, I>(schema: Schema.Schema<A, I>, description: string, example: unknown) =>
  Schema.optional(Schema.NullOr(schema)).annotations({ description, example })

/** `container.json`: how a project is deployed. A key that Berth does not know is refused. */
export const ContainerConfig = Schema.Struct({
  serverId: optional(Schema.String, "The id or the name of the stored server that the project is deployed to.", "main"),
  remotePath: optional(
    Schema.String,
    "The directory on the server. Without it: `~/containers/` and the name of the project's directory.",
    "~/containers/hello"
  ),
  files: optional(
    Schema.Array(Schema.String),
    "Further files and directories that a deploy brings, relative to the project.",
    ["conf", "more/files.txt"]
  ),
  healthTimeout: optional(
    DurationText,
    "How long a deploy waits until the stack is healthy. Without it: the setting `deploy.healthTimeout`.",
    "30 seconds"
  ),
  pull: optional(
    PullPolicy,
    "Which images the server pulls from their registries. Without it: the setting `deploy.pull`.",
    "missing"
  ),
  onUnhealthy: optional(
    OnUnhealthy,
    "What becomes of a new version that does not get healthy. Without it: the setting `deploy.onUnhealthy`.",
    "rollback"
  ),
  allowLinks: optional(Schema.Boolean, "Whether links that lead out of the project are followed.", false)
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

/** A file of the project cannot be used as it is; `place` is where in it, as far as that is known. */
export class ProjectFileInvalid extends Schema.TaggedError<ProjectFileInvalid>()("ProjectFileInvalid", {
  file: Schema.String,
  place: Schema.optional(Schema.Struct({ line: Schema.Number, column: Schema.Number })),
  reason: Schema.String
}) {
  readonly status = 422
  override get message() {
    return fileProblemWords(this.problem)
  }
  get problem(): FileProblem {
    return { file: this.file, line: this.place?.line ?? null, column: this.place?.column ?? null, reason: this.reason }
  }
}
