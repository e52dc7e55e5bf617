import { Schema } from "effect"
import { BackupConfig } from "./backups.ts"
import { DurationText } from "./basics.ts"
import { BuildFirst, DeployHooks, OnUnhealthy, PullPolicy } from "./deploys.ts"
import { environmentField, EnvironmentName, mostEnvironments } from "./environments.ts"
import { SecretName, SecretSource } from "./secrets.ts"
import {
  done,
  field,
  flag,
  number,
  projectPath,
  RemotePathText,
  serverId,
  strictBody,
  text,
  textOrNull,
  texts
} from "./validation.ts"
import { cut, quoteInput, suggestNearest } from "./words.ts"

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

/** Environment of a project, with its places. */
export const ProjectEnvironment = Schema.Struct({
  name: text("Its name.", "staging"),
  targets: Schema.Array(ProjectTarget).annotations({
    description: "Where it is deployed, in the order of the deploys; empty where container.json names no server."
  }),
  protected: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description: "True when its name must confirm what changes it."
  })
}).annotations({ identifier: "ProjectEnvironment" })

export interface ProjectEnvironment extends Schema.Schema.Type<typeof ProjectEnvironment> {}

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
  environment: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "The environment that was asked for, whose places these are."
  }),
  environments: Schema.optionalWith(Schema.Array(ProjectEnvironment), { exact: true }).annotations({
    description: "The environments of container.json, in their order; absent where it has none."
  }),
  requireEnvironment: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description: "True when a request has to name an environment; serverId is null then, unless one was named."
  }),
  problems: Schema.optionalWith(Schema.Array(FileProblem), { exact: true }).annotations({
    description: "Why its container.json cannot be used, which then names no server; absent where it can."
  })
}).annotations({ identifier: "LocalProject" })

export interface LocalProject extends Schema.Schema.Type<typeof LocalProject> {}

/** Directory to inspect. */
export const InspectRequest = Schema.Struct({ projectPath, ...environmentField }).annotations({
  identifier: "InspectRequest",
  ...strictBody
})

export interface InspectRequest extends Schema.Schema.Type<typeof InspectRequest> {}

const optional = <A, I>(schema: Schema.Schema<A, I>, description: string, example: unknown) =>
  Schema.optional(Schema.NullOr(schema)).annotations({ description, example })

/** Maximum number of targets of a project. */
export const mostTargets = 32

/** Maximum number of compose files, env files and profiles that a project names. */
const mostComposeFiles = 32

/** Entry of `targets`: a server, and a directory there unless it is the usual one. */
const ConfiguredTarget = Schema.Struct({
  server: Schema.NonEmptyString,
  remotePath: Schema.optional(Schema.NullOr(Schema.NonEmptyString))
})

const platformPattern = /^(?:auto|[a-z0-9]+\/[a-z0-9]+(?:\/[a-z0-9]+)?)$/

/** Choices of builds from a compose file. */
const BuildChoices = Schema.Struct({
  at: Schema.optional(Schema.NullOr(Schema.NonEmptyString)),
  platform: Schema.optional(Schema.NullOr(Schema.String.pipe(Schema.pattern(platformPattern, {
    message: () => ({ message: "must be auto, or a platform such as linux/arm64", override: true })
  })))),
  parallel: Schema.optional(Schema.NullOr(Schema.Int.pipe(Schema.between(1, 16)))),
  secrets: Schema.optional(Schema.NullOr(
    Schema.Array(Schema.String.pipe(Schema.pattern(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, {
      message: () => ({ message: "must be the name of a variable", override: true })
    }))).pipe(Schema.maxItems(32))
  )),
  memory: Schema.optional(Schema.NullOr(Schema.String.pipe(Schema.pattern(/^[1-9][0-9]{0,12}[bkmg]?$/, {
    message: () => ({ message: "must be a size such as 2g", override: true })
  }))))
})

/** Name of a compose project, as every version of Compose accepts it. */
const ComposeProjectName = Schema.String.pipe(
  Schema.pattern(/^[a-z0-9][a-z0-9_-]{0,127}$/, {
    message: () => ({
      message: "must be the name of a compose project: small letters, digits, \"_\" and \"-\"",
      override: true
    })
  })
)

/** Parts of `container.json` that an environment may have for itself. */
const ofEnvironments = {
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
  compose: optional(
    Schema.Array(Schema.NonEmptyString).pipe(Schema.minItems(1), Schema.maxItems(mostComposeFiles)),
    "The compose files of the project, later ones over earlier ones. Without it: what `COMPOSE_FILE` in `.env` says, or " +
      "the compose file that is there. See [Compose projects](compose.md).",
    ["compose.yml", "compose.prod.yml"]
  ),
  profiles: optional(
    Schema.Array(Schema.NonEmptyString).pipe(Schema.maxItems(mostComposeFiles)),
    "The active profiles. Without it: those of `COMPOSE_PROFILES` in `.env`.",
    ["web"]
  ),
  envFiles: optional(
    Schema.Array(Schema.NonEmptyString).pipe(Schema.maxItems(mostComposeFiles)),
    "The files of the variables that compose files refer to, later ones over earlier ones. Without it: `.env`.",
    [".env", ".env.prod"]
  ),
  projectName: optional(
    ComposeProjectName,
    "Compose's name of the project. Without it: `COMPOSE_PROJECT_NAME` of `.env`, `name:` of the compose file, or the name " +
      "of the directory on the server. Another name starts a second stack beside the one that runs.",
    "shop"
  ),
  keepOrphans: optional(
    Schema.Boolean,
    "Whether containers of services that the compose files no longer have stay. Without it a deploy removes them.",
    true
  ),
  data: optional(
    Schema.Array(Schema.NonEmptyString),
    "Files and directories that services mount and that belong to the server, relative to the project: they are neither " +
      "sent nor removed.",
    ["uploads"]
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
  secrets: optional(
    Schema.Record({ key: SecretName, value: SecretSource }),
    "Secrets that a deploy resolves on Berth's machine and brings: see [Secrets](secrets.md).",
    {
      DB_PASSWORD: { command: ["op", "read", "op://prod/shop/db"] },
      STRIPE_KEY: { age: "secrets.age" },
      TLS_KEY: { command: ["sops", "decrypt", "tls.key.enc"], as: "file" }
    }
  ),
  build: optional(
    BuildChoices,
    "How images are built from the `build:` sections of the compose file: see [Builds](deploy.md#builds).",
    { at: "target", parallel: 1 }
  ),
  backups: optional(
    BackupConfig,
    "Databases and volumes that `berth backup` keeps: see [Backups](backups.md).",
    { items: { database: { kind: "postgres", service: "db" } } }
  )
}

/** Entry of `environments`: what differs from the file itself. */
const EnvironmentConfig = Schema.Struct({
  server: Schema.optional(Schema.NullOr(Schema.NonEmptyString)),
  remotePath: Schema.optional(Schema.NullOr(Schema.NonEmptyString)),
  protected: Schema.optional(Schema.NullOr(Schema.Boolean)),
  ...ofEnvironments
})
export interface EnvironmentConfig extends Schema.Schema.Type<typeof EnvironmentConfig> {}

/** `container.json`: deployment of a project. Unknown keys are refused. */
export const ContainerConfig = Schema.Struct({
  serverId: optional(Schema.String, "The id or the name of the stored server that the project is deployed to.", "main"),
  remotePath: optional(
    Schema.String,
    "The directory on the server. Without it: `~/containers/` and the name of the project's directory.",
    "~/containers/hello"
  ),
  ...ofEnvironments,
  environments: optional(
    Schema.Record({ key: EnvironmentName, value: EnvironmentConfig }).pipe(
      Schema.filter((all) =>
        Object.keys(all).length <= mostEnvironments || `must not have more than ${mostEnvironments} environments`
      )
    ),
    "Places of the project with a name, each with what differs there: see [Environments](environments.md).",
    {
      staging: { server: "web-1", remotePath: "~/containers/shop-staging", envFiles: [".env.staging"] },
      production: { server: "web-2", protected: true }
    }
  ),
  requireEnvironment: optional(
    Schema.Boolean,
    "True when each request has to name one of the `environments`.",
    true
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
  isOperator: Schema.Boolean,
  /** True if files of Berth itself are there. */
  isOwn: Schema.Boolean
}) {
  readonly status = 403
  override get message() {
    if (this.isOwn) {
      return `${quoteInput(this.path)} has files of Berth itself, such as its settings, which no token may read or ` +
        `replace, and nothing was done. Take the directory of a project under ${cut(this.root)}`
    }
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

/** Scripts that build a project's image archive; the second is the fallback without PowerShell. */
export const buildScriptName = "build-image-tar.ps1"

export const shellScriptName = "build-image-tar.sh"

/** Project to build. */
export const BuildRequest = Schema.Struct({
  projectPath,
  ...environmentField,
  build: BuildFirst,
  at: Schema.optional(Schema.NullOr(Schema.String)).annotations({
    description: "Replaces build.at of container.json for this build: here, target, or a server by id or name."
  }),
  noCache: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: "True to take no layer from Docker's cache."
  }),
  service: Schema.optional(Schema.NullOr(Schema.String)).annotations({
    description: "The service whose build: section is built alone; of others the image of their last build stays."
  })
}).annotations({ identifier: "BuildRequest", ...strictBody })

export interface BuildRequest extends Schema.Schema.Type<typeof BuildRequest> {}

/** Image that was built from a `build:` section. */
export const BuiltImage = Schema.Struct({
  services: texts("The services that run it.", ["web", "worker"]),
  id: text("Its id here.", "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"),
  platform: text("Operating system and architecture that it runs on.", "linux/amd64")
}).annotations({ identifier: "BuiltImage" })

export interface BuiltImage extends Schema.Schema.Type<typeof BuiltImage> {}

/** Result of a build. */
export const BuildResult = Schema.Struct({
  success: flag("True when the script ended with exit code 0."),
  tarFile: textOrNull("The name of the image archive that this build wrote; null when it wrote none.", "hello.tar"),
  exitCode: Schema.NullOr(Schema.Number).annotations({ description: "Null when the script was stopped." }),
  output: Schema.String.annotations({ description: "Output of both streams; the last MiB." }),
  durationMs: number("Duration of the script, in milliseconds.", 41_500),
  images: Schema.optionalWith(Schema.Array(BuiltImage), { exact: true }).annotations({
    description: "The images that were built from the compose file, which the next deploy sends; absent after a script."
  })
}).annotations({ identifier: "BuildResult" })

export interface BuildResult extends Schema.Schema.Type<typeof BuildResult> {}

/** Local and remote file to compare in the editor. */
export const EditorDiffRequest = Schema.Struct({
  serverId,
  localPath: text("The local file: an absolute path on this machine.", "/home/ann/projects/hello/compose.yml"),
  remoteFilePath: field(RemotePathText, "The file on the server.")
}).annotations({ identifier: "EditorDiffRequest", ...strictBody })

export interface EditorDiffRequest extends Schema.Schema.Type<typeof EditorDiffRequest> {}

/** The editor was started with these two files. */
export const EditorDiffResult = Schema.Struct({
  success: done,
  localPath: text("The local file that the editor was given."),
  remoteCopy: Schema.String.annotations({ description: "A private copy of the file on the server." })
}).annotations({ identifier: "EditorDiffResult" })

export interface EditorDiffResult extends Schema.Schema.Type<typeof EditorDiffResult> {}

/** Directory to prepare, and its deploy target. */
export const InitRequest = Schema.Struct({
  projectPath,
  serverId: Schema.optional(Schema.NullOr(serverId)).annotations({
    description: "The id or the name of the server that container.json is to name; the only stored one unless given."
  }),
  remotePath: Schema.optional(Schema.NullOr(Schema.String)).annotations({
    description:
      "The directory on the server that container.json is to name; ~/containers and its own name unless given."
  }),
  plan: Schema.optional(Schema.Boolean).annotations({
    description: "True to write nothing and only list the files that would be created.",
    default: false
  })
}).annotations({
  identifier: "InitRequest",
  ...strictBody
})

export interface InitRequest extends Schema.Schema.Type<typeof InitRequest> {}

/** Created files, existing files, and the resulting project. */
export const InitResult = Schema.Struct({
  success: done,
  created: texts("The files that were written, since they were missing; with plan, that would be.", [
    "container.json",
    ".dockerignore"
  ]),
  changed: Schema.optional(texts("The files whose empty serverId was filled in, or with plan would be.", [
    "container.json"
  ])),
  kept: texts("The files that were there already and were left as they are.", ["compose.yml"]),
  builds: optional(
    Schema.Boolean,
    "True if the compose file has `build:` sections: the first deploy is one with `build`.",
    true
  ),
  project: field(LocalProject, "The project as it is now.")
}).annotations({ identifier: "InitResult" })

export interface InitResult extends Schema.Schema.Type<typeof InitResult> {}
