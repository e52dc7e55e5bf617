import { Schema } from "effect"
import { PlannedBackup } from "./backups.ts"
import { describeMovedFacts, DurationText, HookCommand, PlanHash } from "./basics.ts"
import { confirmField, plannedEnvironment, projectPlace, stackPlace } from "./environments.ts"
import { PlannedSecret } from "./secrets.ts"
import { ProjectProgram } from "./trust.ts"
import { field, flag, number, projectPath, storedServerId, strictBody, text, texts } from "./validation.ts"
import { appendSentence, cut } from "./words.ts"

/** File or directory that a compose file names. */
export const PlannedReference = Schema.Struct({
  path: text("The path, relative to the project.", "nginx.conf"),
  at: text("The place that names it first.", "compose.yml:14"),
  decided: Schema.Literal("brought", "data", "missing", "outside").annotations({
    description: "`brought` with the deploy, `data` that the server keeps, or an obstacle: `missing`, `outside`."
  })
}).annotations({ identifier: "PlannedReference" })
export interface PlannedReference extends Schema.Schema.Type<typeof PlannedReference> {}

/** Describes each directory and file of a plan that the server keeps: `uploads stays on the server: compose.yml:7`. */
export const describeKeptData = (references: ReadonlyArray<PlannedReference> = []): ReadonlyArray<string> =>
  references.filter(({ decided }) => decided === "data").map(({ at, path }) => `${path} stays on the server: ${at}`)

/** Status of a stack. */
export const StackStatus = Schema.Literal("healthy", "starting", "unhealthy", "exited", "missing")
export type StackStatus = typeof StackStatus.Type

/** Action if a new version is still unhealthy at the timeout. */
export const OnUnhealthy = Schema.Literal("rollback", "keep").annotations({
  message: () => ({ message: "must be rollback or keep", override: true })
})
export type OnUnhealthy = typeof OnUnhealthy.Type

/** The outcome of a deploy whose stack was started. */
export const DeployResult = Schema.Struct({
  success: flag("True when the new version was started and is the one that runs."),
  healthy: flag("True when every service that should run does and passes its health check."),
  status: StackStatus.annotations({ description: "State of the new version, in one word.", examples: ["healthy"] }),
  uploadedFiles: texts("The files that were sent, since the server lacked them.", ["hello.tar", "compose.yml"]),
  message: text("Outcome in words, and what to look at where it is not well."),
  urls: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }).annotations({
    description: "Links to the ports that a deployed project publishes; absent where there are none."
  }),
  isFirst: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description:
      "True when an unhealthy version stays and the server has no other release to roll back to; absent otherwise."
  })
}).annotations({ identifier: "DeployResult" })
export interface DeployResult extends Schema.Schema.Type<typeof DeployResult> {}

/** Images that the server pulls: those that it lacks, none, or all that are not in the archive. */
export const PullPolicy = Schema.Literal("missing", "never", "always").annotations({
  message: () => ({ message: "must be missing, never or always", override: true })
})
export type PullPolicy = typeof PullPolicy.Type

/** Builds the image archive first: with the project's script, else from the `build:` sections of its compose file. */
export const BuildFirst = Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
  description:
    "True to build first: with the project's script, or without one from the build: sections of its compose file."
})

const choices = {
  pull: Schema.optional(Schema.NullOr(PullPolicy)).annotations({
    description:
      "Images that the server pulls from their registries, of those that are not in the archive; container.json or the " +
      "setting deploy.pull says when absent."
  }),
  onUnhealthy: Schema.optional(Schema.NullOr(OnUnhealthy)).annotations({
    description:
      "Fate of the new version when it does not get healthy in time: the release before runs again (rollback), or it stays (keep). " +
      "As container.json or the settings say when absent."
  })
}

/** Project and destination of a planned deploy. */
export const ContainerPlanRequest = Schema.Struct({
  ...projectPlace,
  ...choices,
  noSecrets: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: "True to run no program that prints a secret, and to take the secrets for unchanged."
  })
}).annotations({
  identifier: "ContainerPlanRequest",
  ...strictBody
})
export interface ContainerPlanRequest extends Schema.Schema.Type<typeof ContainerPlanRequest> {}

/** Project and destination of a deploy, and the plan that binds it. */
export const DeployRequest = Schema.Struct({
  ...projectPlace,
  ...choices,
  ...confirmField,
  build: BuildFirst,
  planHash: Schema.optional(Schema.NullOr(PlanHash)).annotations({
    description: "The planHash of a plan: where something has moved since, nothing is changed and the answer is a 409."
  })
}).annotations({ identifier: "DeployRequest", ...strictBody })
export interface DeployRequest extends Schema.Schema.Type<typeof DeployRequest> {}

/** Release and stack of a rollback. */
export const RollbackRequest = Schema.Struct({
  ...stackPlace,
  ...confirmField,
  release: Schema.optional(Schema.NullOr(text("The id of the release.", "12"))).annotations({
    description: "Release to run; the one before the current one when absent."
  }),
  withData: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: "True to restore the last backup that was taken while that release ran, too."
  })
}).annotations({ identifier: "RollbackRequest", ...strictBody })
export interface RollbackRequest extends Schema.Schema.Type<typeof RollbackRequest> {}

/** A step of a deploy or a rollback failed. */
export class DeployFailed extends Schema.TaggedError<DeployFailed>()("DeployFailed", {
  program: Schema.optionalWith(Schema.Literal("Deploy", "Rollback"), { default: () => "Deploy" as const }),
  step: Schema.String,
  reason: Schema.String,
  /** Current state of the server, as a sentence without its full stop; may be empty. */
  state: Schema.optionalWith(Schema.String, { default: () => "" }),
  /** 422 if a file of the project is invalid. */
  status: Schema.optionalWith(Schema.Number, { default: () => 500 })
}) {
  override get message() {
    return appendSentence(`${this.program} failed at ${this.step}: ${this.reason}`, this.state)
  }
}

const mostDifferences = 10

/** The server's Compose makes something else of the compose files than the plan. */
export class ComposeDiffers extends Schema.TaggedError<ComposeDiffers>()("ComposeDiffers", {
  server: Schema.String,
  /** Each with the service or the path that it is about. */
  differences: Schema.Array(Schema.String),
  /** Current state of the server, as a sentence without its full stop. */
  state: Schema.String
}) {
  readonly status = 422
  override get message() {
    const told = this.differences.slice(0, mostDifferences).map(cut)
    const others = this.differences.length - told.length
    return appendSentence(
      `Compose on "${this.server}" reads the compose files otherwise than the plan: ${told.join("; ")}` +
        (others === 0 ? "" : `; and ${others} more`) +
        ". A COMPOSE_… variable or another variable of the server's own environment may be the reason: look at what " +
        "\"docker compose config\" prints there",
      this.state
    )
  }
}

/** Another process has locked the remote path. */
export class DeployLocked extends Schema.TaggedError<DeployLocked>()("DeployLocked", {
  remotePath: Schema.String,
  server: Schema.String,
  holder: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `${cut(this.remotePath)} on "${this.server}" is being deployed by another process: ${this.holder}`
  }
}

const mostCommands = 20

const LocalCommands = Schema.Array(HookCommand).pipe(Schema.maxItems(mostCommands))
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** Commands around a deploy, as `container.json` declares them. */
export const DeployHooks = Schema.Struct({
  beforeDeploy: optional(LocalCommands),
  beforeStart: optional(Schema.Struct({ service: Schema.String, command: HookCommand })),
  afterDeploy: optional(LocalCommands),
  timeout: optional(DurationText)
})
export interface DeployHooks extends Schema.Schema.Type<typeof DeployHooks> {}

/** Names of the hooks and of their steps. */
export const HookName = Schema.Literal("beforeDeploy", "beforeStart", "afterDeploy")
export type HookName = typeof HookName.Type

/** Planned command of a hook. */
export const PlannedHook = Schema.Struct({
  when: HookName.annotations({ description: "Its hook." }),
  service: Schema.optionalWith(text("Service whose new image it runs in.", "web"), { exact: true }),
  command: texts("Program and arguments.", ["npm", "run", "migrate"])
}).annotations({ identifier: "PlannedHook" })
export interface PlannedHook extends Schema.Schema.Type<typeof PlannedHook> {}

/** Planned change of a file. */
export const PlannedFile = Schema.Struct({
  name: text("The file, relative to the project and to the remote path.", "compose.yml"),
  change: Schema.Literal("new", "changed", "same", "removed").annotations({
    description: "`removed`: an earlier deploy brought it, and the project no longer has it."
  }),
  bytes: number("Its size here; 0 for one that would be removed.", 1024)
}).annotations({ identifier: "PlannedFile" })
export interface PlannedFile extends Schema.Schema.Type<typeof PlannedFile> {}

/** Planned change of an image. */
export const PlannedImage = Schema.Struct({
  name: text("The name of the image.", "hello:latest"),
  change: Schema.Literal("new", "changed", "same").annotations({
    description: "Meaning of the name on the server: none yet, another image, or this one."
  }),
  bytesToSend: number(
    "Bytes of the archive that would be sent for it; layers that images share count once.",
    52_428_800
  ),
  platform: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "What an image of the archive runs on, such as `linux/amd64`; absent for any other."
  }),
  buildReason: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "Why the server builds it; absent where it does not."
  })
}).annotations({ identifier: "PlannedImage" })
export interface PlannedImage extends Schema.Schema.Type<typeof PlannedImage> {}

/** Reason for building an image on the server, in words; empty for one that it does not build. */
export const describeImageBuild = ({ buildReason }: Pick<PlannedImage, "buildReason">): string =>
  buildReason === undefined ? "" : `built on the server, as ${buildReason}`

/** Route that a bridge serves temporarily. */
export const BridgedRoute = Schema.Struct({
  host: text("The host name that it serves; empty where its rule names none.", "hello.example.com"),
  routeName: text("The name of its router in the proxy file.", "hello"),
  file: text("The proxy file.", "/etc/traefik/berth.yml")
}).annotations({ identifier: "BridgedRoute" })
export interface BridgedRoute extends Schema.Schema.Type<typeof BridgedRoute> {}

/** Planned change of a service. */
export const PlannedService = Schema.Struct({
  name: text("The name of the service.", "web"),
  change: Schema.Literal("create", "recreate", "keep", "remove").annotations({
    description: "Fate of its containers; `keep` starts one that is stopped."
  }),
  rollout: Schema.optionalWith(Schema.NullOr(Schema.Literal("bridged", "recreate")), { exact: true }).annotations({
    description: "For a service in `bridged`: how its container is replaced; null where it is not."
  }),
  rolloutReason: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "Why it is recreated without a bridge."
  }),
  routes: Schema.optionalWith(Schema.Array(BridgedRoute), { exact: true }).annotations({
    description: "The routes whose requests a bridge takes."
  })
}).annotations({ identifier: "PlannedService" })
export interface PlannedService extends Schema.Schema.Type<typeof PlannedService> {}

/** Compose files of a plan. */
const PlannedCompose = Schema.Struct({
  files: texts("The compose files, later ones over earlier ones.", ["compose.yml"]),
  profiles: texts("The active profiles.", []),
  envFiles: texts("The files of the variables; empty where Compose reads `.env` by itself.", []),
  fromEnv: texts("The variables `COMPOSE_…` of `.env` that decide it.", [])
}).annotations({ identifier: "PlannedCompose" })

/** Plan of a deploy. */
export const ContainerPlan = Schema.Struct({
  planHash: Schema.String.annotations({ description: "Sent with a deploy, it holds the deploy to this plan." }),
  projectPath,
  serverId: storedServerId,
  remotePath: text("The directory of the stack on the server.", "~/containers/hello"),
  ...plannedEnvironment,
  files: field(Schema.Array(PlannedFile), "The files that a deploy brings or removes."),
  references: Schema.optionalWith(Schema.Array(PlannedReference), { exact: true }).annotations({
    description: "The files and directories that the compose files name, and what is done with each."
  }),
  compose: Schema.optionalWith(PlannedCompose, { exact: true }).annotations({
    description: "How Compose is called on the server."
  }),
  images: field(Schema.Array(PlannedImage), "The images of the archive, and those that the stack names beside them."),
  services: field(
    Schema.Array(PlannedService),
    "The services of the project, and those that run there without being in it."
  ),
  hooks: Schema.optionalWith(Schema.Array(PlannedHook), { exact: true }).annotations({
    description: "Commands of `hooks` in `container.json`, in their order; absent without one."
  }),
  programs: Schema.optionalWith(Schema.Array(ProjectProgram), { exact: true }).annotations({
    description:
      "Programs of the project that run on Berth's machine to build or deploy it, and its links that lead out; " +
      "absent without one."
  }),
  buildAt: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description:
      "Name of the server that builds images of the compose file; absent where they are built here, or none is."
  }),
  secrets: Schema.optionalWith(Schema.Array(PlannedSecret), { exact: true }).annotations({
    description: "Secrets of the project and of its last deploy, without their values; absent without one."
  }),
  backups: Schema.optionalWith(Schema.Array(PlannedBackup), { exact: true }).annotations({
    description: "Data that is kept after the load, before anything is replaced; absent without any."
  }),
  bytesToSend: number("Bytes that a deploy would send.", 52_428_800),
  bytesTotal: number("Size of the files and the archive, in bytes.", 104_857_600),
  obstacles: texts("Obstacles that stop a deploy before it changes anything."),
  warnings: texts("Warnings, which do not stop a deploy.")
}).annotations({ identifier: "ContainerPlan" })
export interface ContainerPlan extends Schema.Schema.Type<typeof ContainerPlan> {}

/** Says where the images of a plan are built, if that is not here. */
export const describeBuilder = ({ buildAt }: Pick<ContainerPlan, "buildAt">): ReadonlyArray<string> =>
  buildAt === undefined ? [] : [`images are built on "${cut(buildAt)}"`]

/** A fact has changed since the plan was made. */
export class DeployPlanMoved extends Schema.TaggedError<DeployPlanMoved>()("DeployPlanMoved", {
  remotePath: Schema.String,
  server: Schema.String,
  moved: Schema.Array(Schema.String)
}) {
  readonly status = 409
  override get message() {
    return describeMovedFacts(`The plan for ${cut(this.remotePath)} on "${this.server}"`, this.moved)
  }
}

/** Names of the variables that differ between two env files; never their values. */
export const ChangedVariables = Schema.Struct({
  added: texts("Variables that only the later file has.", ["TZ"]),
  changed: texts("Variables whose values differ."),
  removed: texts("Variables that only the earlier file has.")
}).annotations({ identifier: "ChangedVariables" })
export interface ChangedVariables extends Schema.Schema.Type<typeof ChangedVariables> {}

/** Change of a file that is kept on a server, with its differences. */
export const ChangedFile = Schema.Struct({
  name: text("The file, relative to the remote path.", "compose.yml"),
  change: PlannedFile.fields.change.annotations({
    description: "`removed`: the later one does not have it."
  }),
  diff: Schema.optionalWith(
    Schema.String.annotations({ description: "Unified diff, of small text files." }),
    { exact: true }
  ),
  variables: Schema.optionalWith(ChangedVariables, { exact: true }).annotations({
    description: "Names of the variables of an env file that differ; never their values."
  })
}).annotations({ identifier: "ChangedFile" })
export interface ChangedFile extends Schema.Schema.Type<typeof ChangedFile> {}

/**
 * Formats the command of a hook, with JSON quotes where spaces would be ambiguous: `beforeStart in web: npm run
 * migrate`.
 */
export const describeHook = ({ command, service, when }: PlannedHook): string => {
  const words = command.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))
  return `${when}${service === undefined ? " here" : ` in ${service}`}: ${words.join(" ")}`
}

/** Describes the rollout of a service listed in `bridged`; empty for other services. */
export const describeRollout = ({ rollout, rolloutReason, routes = [] }: PlannedService): string => {
  const hosts = [...new Set(routes.map(({ host, routeName }) => host || routeName))].join(", ")
  if (rollout === "bridged") return `bridged: a second container takes the requests of ${hosts || "its port"} meanwhile`
  return rollout === "recreate" ? `not bridged: ${rolloutReason ?? "it is recreated in place"}` : ""
}

/**
 * Files and images that a deploy changes, and services whose containers go, which may be all that it changes. Others are
 * created and recreated because of the files and images.
 */
export const filterChangedParts = (
  { files, images, services }: Pick<ContainerPlan, "files" | "images" | "services">
) => ({
  files: files.filter(({ change }) => change !== "same"),
  images: images.filter(({ change }) => change !== "same"),
  removed: services.filter(({ change }) => change === "remove")
})

/** True if a deploy changes something, the same for exit codes, outputs of jobs and reports. */
export const hasPlannedChanges = ({ files, images, services }: ContainerPlan): boolean =>
  [...files, ...images].some(({ change }) => change !== "same") || services.some(({ change }) => change !== "keep")

/** Counts the changes of a project's plan, the same for every screen and command. */
export const countChanges = (plan: Pick<ContainerPlan, "files" | "images" | "services">): number => {
  const { files, images, removed } = filterChangedParts(plan)
  return files.length + images.length + removed.length
}

const begin = "the server pulls "

/** Plan warning about an image that the server pulls from a registry. */
export const describePull = (name: string, isAlways: boolean): string =>
  `${begin}${name} from its registry` +
  (isAlways ? ": its containers are made anew where it has changed there" : "")

/** True for a warning of `pullNote`, which is information and not a problem. */
export const isPullNote = (warning: string): boolean => warning.startsWith(begin)
