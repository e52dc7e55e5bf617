import { Schema } from "effect"
import { DurationText } from "../basics/DurationText.ts"
import { OnUnhealthy, PullPolicy } from "../deploy/Deploy.ts"
import { DeployHooks } from "../deploy/Hooks.ts"
import { flag, projectPath, text, textOrNull } from "../words/describedFields.ts"
import { suggestNearest } from "../words/nearest.ts"
import { cut, quoteInput } from "../words/quoted.ts"
import { strictBody } from "../words/strict.ts"

const Position = Schema.NullOr(Schema.Number)

/** Reason and position of a problem in a project file. */
export const FileProblem = Schema.Struct({
  file: text("The absolute path of the file.", "/home/ann/projects/hello/container.json"),
  line: Position.annotations({ description: "The line, counted from 1; null for the whole file.", examples: [3] }),
  column: Position.annotations({ description: "The column, counted from 1; null for the whole file.", examples: [5] }),
  reason: text("Reason, in one sentence.", "is not valid JSON: a comma is expected here")
}).annotations({ identifier: "FileProblem" })
export interface FileProblem extends Schema.Schema.Type<typeof FileProblem> {}

const predicate = /^(is|has|must|cannot|needs) /

/** Describes a problem in a file. Shortens the file name first, so that the position is never cut off. */
export const formatFileProblem = ({ column, file, line, reason }: FileProblem): string =>
  `${cut(file)}${line === null ? "" : `:${line}:${column ?? 1}`}${predicate.test(reason) ? "" : ":"} ${reason}`

/** Server and remote directory of a project's deploys, with the server's id if it is stored. */
export const ProjectTarget = Schema.Struct({
  serverId: text("The server that container.json names: its id, or what is written there where none is stored.", "1"),
  remotePath: text("Where it is deployed on that server.", "~/containers/hello")
}).annotations({ identifier: "ProjectTarget" })
export interface ProjectTarget extends Schema.Schema.Type<typeof ProjectTarget> {}

/** Directory under the projects root, complete or incomplete for a deploy. */
export const LocalProject = Schema.Struct({
  name: text("The name of the directory.", "hello"),
  path: text("Its absolute path on this machine.", "/home/ann/projects/hello"),
  hasImageFile: flag("True when it has a Dockerfile or Containerfile."),
  hasComposeFile: flag("True when it has a compose file."),
  hasPlatformJson: flag("True when it has a platform.json."),
  containerStatus: Schema.Literal("none", "partial", "configured").annotations({
    description: "Share of what a deploy needs that is there: nothing, a part, or all of it."
  }),
  tarFile: textOrNull("The name of its image archive; null when it has none.", "hello.tar"),
  serverId: textOrNull(
    "The server that container.json names: its id, or what is written there where none is stored; that of the first of " +
      "its targets; null without one.",
    "1"
  ),
  remotePath: text("Where it is deployed on a server.", "~/containers/hello"),
  targets: Schema.optionalWith(Schema.Array(ProjectTarget), { exact: true }).annotations({
    description: "The targets of container.json, in their order; absent where it names none."
  }),
  problems: Schema.optionalWith(Schema.Array(FileProblem), { exact: true }).annotations({
    description: "Why its container.json cannot be used, which then names no server; absent where it can."
  })
}).annotations({ identifier: "LocalProject" })
export interface LocalProject extends Schema.Schema.Type<typeof LocalProject> {}

/** Directory to inspect. */
export const InspectRequest = Schema.Struct({ projectPath }).annotations({
  identifier: "InspectRequest",
  ...strictBody
})
export interface InspectRequest extends Schema.Schema.Type<typeof InspectRequest> {}

const optional = <A, I>(schema: Schema.Schema<A, I>, description: string, example: unknown) =>
  Schema.optional(Schema.NullOr(schema)).annotations({ description, example })

/** Maximum number of targets of a project. */
export const mostTargets = 32

/** Entry of `targets`: a server, and a directory there unless it is the usual one. */
const ConfiguredTarget = Schema.Struct({
  server: Schema.NonEmptyString,
  remotePath: Schema.optional(Schema.NullOr(Schema.NonEmptyString))
})

/** `container.json`: deployment of a project. Unknown keys are refused. */
export const ContainerConfig = Schema.Struct({
  serverId: optional(Schema.String, "The id or the name of the stored server that the project is deployed to.", "main"),
  remotePath: optional(
    Schema.String,
    "The directory on the server. Without it: `~/containers/` and the name of the project's directory.",
    "~/containers/hello"
  ),
  targets: optional(
    Schema.Array(ConfiguredTarget).pipe(Schema.minItems(1), Schema.maxItems(mostTargets)),
    "Several servers in place of `serverId` and `remotePath`, by id or name, in the order of their deploys: see " +
      "[Several servers](deploy.md#several-servers).",
    [{ server: "web-1", remotePath: "~/containers/hello" }, { server: "web-2" }]
  ),
  parallel: optional(
    Schema.Boolean,
    "True to deploy to several `targets` at once. Without it: one after the other.",
    false
  ),
  files: optional(
    Schema.Array(Schema.String),
    "Further files and directories that a deploy brings, relative to the project.",
    ["conf", "more/files.txt"]
  ),
  healthTimeout: optional(
    DurationText,
    "Time that a deploy waits until the stack is healthy. Without it: the setting `deploy.healthTimeout`.",
    "30 seconds"
  ),
  pull: optional(
    PullPolicy,
    "Images that the server pulls from their registries. Without it: the setting `deploy.pull`.",
    "missing"
  ),
  onUnhealthy: optional(
    OnUnhealthy,
    "Fate of a new version that does not get healthy. Without it: the setting `deploy.onUnhealthy`.",
    "rollback"
  ),
  bridged: optional(
    Schema.Array(Schema.String),
    "The services of which two containers may run at once for a moment, so that a redeploy or rollback fails no request. " +
      "Not for one whose migrations, locks or volumes bear a single version only.",
    ["web"]
  ),
  hooks: optional(
    DeployHooks,
    "Commands around a deploy: see [Hooks](deploy.md#hooks).",
    { beforeStart: { service: "web", command: ["npm", "run", "migrate"] } }
  ),
  allowLinks: optional(Schema.Boolean, "True when links that lead out of the project are followed.", false)
}).annotations({ identifier: "ContainerConfig" })
export interface ContainerConfig extends Schema.Schema.Type<typeof ContainerConfig> {}

/** File names that identify a container project, in order of precedence. */
export const imageFileNames = ["Dockerfile", "Containerfile"] as const
export const composeFileNames = ["compose.yml", "compose.yaml", "docker-compose.yml", "docker-compose.yaml"] as const
export const platformFileName = "platform.json"
export const containerConfigName = "container.json"

/** Names of the files that identify a project, in addition to image archives. */
export const projectFileNames: ReadonlyArray<string> = [
  ...imageFileNames,
  ...composeFileNames,
  platformFileName,
  containerConfigName
]

/** The path is relative, missing, or not a directory. */
export class ProjectPathInvalid extends Schema.TaggedError<ProjectPathInvalid>()("ProjectPathInvalid", {
  path: Schema.String,
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return `projectPath ${quoteInput(this.path)} ${this.reason}`
  }
}

/** The caller is limited to the projects root, and the path leads outside. */
export class PathOutside extends Schema.TaggedError<PathOutside>()("PathOutside", {
  path: Schema.String,
  root: Schema.String,
  caller: Schema.String,
  isOperator: Schema.Boolean
}) {
  readonly status = 403
  override get message() {
    const place = `${quoteInput(this.path)} is not under ${cut(this.root)}`
    return `${place}, where the token ${quoteInput(this.caller)} may work, and nothing was done. ` +
      "Take a directory there, or one that a link there leads to" +
      (this.isOperator ? ", or let operators leave that directory: projects.anywhere: true in the settings" : "")
  }
}

/** A file of the project is invalid; `place` is the position, if known. */
export class ProjectFileInvalid extends Schema.TaggedError<ProjectFileInvalid>()("ProjectFileInvalid", {
  file: Schema.String,
  place: Schema.optional(Schema.Struct({ line: Schema.Number, column: Schema.Number })),
  reason: Schema.String
}) {
  readonly status = 422
  override get message() {
    return formatFileProblem(this.problem)
  }
  get problem(): FileProblem {
    return { file: this.file, line: this.place?.line ?? null, column: this.place?.column ?? null, reason: this.reason }
  }
}

/** The projects root has no project of this name. */
export class ProjectUnknown extends Schema.TaggedError<ProjectUnknown>()("ProjectUnknown", {
  name: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  readonly status = 404
  override get message() {
    return `No project under the projects root is named ${quoteInput(this.name)}.${
      suggestNearest(this.name, this.known)
    }`
  }
}

/** The project names no server, and the number of stored servers is not one. */
export class ProjectWithoutServer extends Schema.TaggedError<ProjectWithoutServer>()("ProjectWithoutServer", {
  name: Schema.String
}) {
  readonly status = 422
  override get message() {
    return `${quoteInput(this.name)} does not say which server it is on: add "serverId" to its ${containerConfigName}`
  }
}
