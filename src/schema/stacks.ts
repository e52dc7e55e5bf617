import { Schema } from "effect"
import { PlannedService, StackStatus } from "./deploys.ts"
import { confirmField, plannedEnvironment, stackPlace } from "./environments.ts"
import { ReleaseImage } from "./releases.ts"
import { type ServerAccess } from "./ssh.ts"
import {
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
import { appendSentence, cut, quoteInput } from "./words.ts"

/** Directory of a compose project on a server. */
export interface Stack {
  readonly server: ServerAccess
  readonly remotePath: string
}

/** Describes a stack: `~/containers/shop on "Main"`. */
export const describeStack = ({ remotePath, server }: Stack): string => `${remotePath} on "${server.name}"`

/** Actions on a deployed stack. */
export type StackAction = "stop" | "start" | "restart" | "remove"

const where = { ...stackPlace, ...confirmField }

/** Stack to stop, start or restart. */
export const StackRequest = Schema.Struct(where).annotations({ identifier: "StackRequest", ...strictBody })
export interface StackRequest extends Schema.Schema.Type<typeof StackRequest> {}

/** Stack to remove, with or without its volumes. */
export const StackRemoval = Schema.Struct({
  ...where,
  volumes: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description:
      "True when the volumes that the compose file names are removed too, and those of its containers that have no name, " +
      "with what is in them; false by default."
  })
}).annotations({ identifier: "StackRemoval", ...strictBody })
export interface StackRemoval extends Schema.Schema.Type<typeof StackRemoval> {}

/** Object that a removal leaves on the server, and the reason. */
export const StackRemains = Schema.Struct({
  kind: Schema.Literal("container", "directory", "file", "image", "link", "volume").annotations({
    description: "Kind of the object.",
    examples: ["directory"]
  }),
  name: text("Its name; that of a file is relative to the directory of the stack.", "data"),
  because: text("Reason why it stays.", "data/ is never removed")
}).annotations({ identifier: "StackRemains" })
export interface StackRemains extends Schema.Schema.Type<typeof StackRemains> {}

/** Plan of the removal of a stack. */
export const StackRemovalPlan = Schema.Struct({
  ...plannedEnvironment,
  serverId,
  remotePath: text("The directory of the stack.", "~/containers/hello"),
  releases: Schema.Array(Schema.Struct({
    id: text("Identifier of the release.", "3"),
    at: text("Time of its deploy.", "2026-01-02T03:04:05Z")
  })).annotations({ description: "Releases that are removed, newest first: no rollback leads back to them." }),
  backups: Schema.Array(Schema.Struct({
    id: text("Identifier of the backup.", "12"),
    takenAt: text("When it was taken.", "2026-01-02T03:04:05Z"),
    bytes: number("Its size on the server, in bytes.", 1_048_576),
    items: texts("Its items.", ["database"])
  })).annotations({ description: "Backups that are removed with the directory .berth, newest first." }),
  containers: texts("Names of the containers that are removed.", ["hello-web-1"]),
  files: texts("Files that Berth brought and that are removed, relative to remotePath.", ["compose.yml", ".env"]),
  images: texts("Images that Berth brought and that are removed, by name, or by id without one.", ["hello:latest"]),
  volumes: texts("Volumes that are removed with what is in them; empty without `volumes`.", []),
  stays: Schema.Array(StackRemains).annotations({ description: "Objects that stay on the server, with the reason." }),
  omitted: Schema.Array(Schema.Struct({
    list: text("The name of the list.", "files"),
    number: number("Number of its further entries, at least.", 12)
  })).annotations({ description: "Lists that are longer than 500 entries, and were cut." })
}).annotations({ identifier: "StackRemovalPlan" })
export interface StackRemovalPlan extends Schema.Schema.Type<typeof StackRemovalPlan> {}

/** Number of entries that were cut off a list of the plan. */
export const countOmitted = ({ omitted }: Pick<StackRemovalPlan, "omitted">, list: string): number =>
  omitted.reduce((sum, each) => each.list === list ? sum + each.number : sum, 0)

/** Result of an action on a stack. */
export const StackResult = Schema.Struct({
  success: flag("True when it was done: a stack that was started can still be unhealthy."),
  status: StackStatus.annotations({
    description: "State of the stack now: exited after a stop, missing after a removal.",
    examples: ["exited"]
  }),
  message: text("Outcome in words, and what to look at where it is not well."),
  stays: Schema.optionalWith(Schema.Array(StackRemains), { exact: true }).annotations({
    description: "Objects that a removal left on the server, with the reason; at most 50. Absent for other actions."
  }),
  isFirst: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description:
      "True when a stack that was started is unhealthy and has no other release to roll back to; absent otherwise."
  })
}).annotations({ identifier: "StackResult" })
export interface StackResult extends Schema.Schema.Type<typeof StackResult> {}

/** The directory has no stack, or the stack has no containers. */
export class StackMissing extends Schema.TaggedError<StackMissing>()("StackMissing", {
  remotePath: Schema.String,
  server: Schema.String,
  /** True if the stack is deployed but has no containers. */
  isEmpty: Schema.Boolean
}) {
  readonly status = 404
  override get message() {
    const place = `${cut(this.remotePath)} on "${this.server}"`
    return this.isEmpty
      ? `The stack at ${place} has no containers. Nothing was changed: a start or a deploy makes them`
      : `There is no stack at ${place}: a scan of the server lists what is deployed there. Nothing was changed`
  }
}

/** An action on a stack failed on the server. */
export class StackFailed extends Schema.TaggedError<StackFailed>()("StackFailed", {
  action: Schema.Literal("stop", "start", "restart", "remove"),
  remotePath: Schema.String,
  server: Schema.String,
  reason: Schema.String,
  /** Current state of its containers, as a sentence without its full stop; empty if unknown. */
  state: Schema.String
}) {
  readonly status = 502
  override get message() {
    const what = `The ${this.action} of ${cut(this.remotePath)} on "${this.server}" failed: ${this.reason}`
    return appendSentence(what, this.state)
  }
}

// Container states, read from the status text of `docker ps`.

/** True if a container runs. */
export const isUp = (status: string): boolean => status.startsWith("Up ")

/** True if a container runs and its health check fails, or it is paused. */
export const isUnhealthy = (status: string): boolean => /\((?:unhealthy|Paused)\)/.test(status)

/** True if a container has ended with exit code 0. */
export const isCompleted = (status: string): boolean => status.startsWith("Exited (0)")

/** True if Docker restarts a container again and again. */
export const isRestarting = (status: string): boolean => status.startsWith("Restarting")

export const Container = Schema.Struct({
  name: text("The container's name.", "hello-web-1"),
  status: text("State as Docker reports it.", "Up 3 hours (healthy)"),
  ports: text("Its ports as Docker lists them; empty when it has none.", "0.0.0.0:2000->3000/tcp")
}).annotations({ identifier: "Container" })
export interface Container extends Schema.Schema.Type<typeof Container> {}

/** A directory under `~/containers` on a server. */
export const DeployedProject = Schema.Struct({
  name: text("The name of the directory.", "hello"),
  remotePath: text("Where it is on the server.", "~/containers/hello"),
  hasComposeFile: flag("True when it has a compose file."),
  hasEnv: flag("True when it has a .env file."),
  hasData: flag("True when it has a directory data/."),
  tarFile: textOrNull("The name of its image archive; null when it has none.", "hello.tar"),
  composeFileContent: textOrNull(
    "The first 256 KiB of its compose file; null when it has none or it cannot be read. Values of variables are *** for a viewer."
  )
}).annotations({ identifier: "DeployedProject" })
export interface DeployedProject extends Schema.Schema.Type<typeof DeployedProject> {}

/** Container name as Docker allows it; other strings are never sent to a server. */
export const ContainerName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, {
    message: () => "must be a container name: letters, digits, \"_\", \".\" and \"-\""
  }),
  Schema.maxLength(255)
)

/** Docker is missing or not responding, or its compose plugin does not match it. */
export class DockerUnusable extends Schema.TaggedError<DockerUnusable>()("DockerUnusable", { reason: Schema.String }) {
  readonly status = 502
  override get message() {
    return this.reason
  }
}

/** A server could not be scanned. */
export class ScanFailed extends Schema.TaggedError<ScanFailed>()("ScanFailed", { reason: Schema.String }) {
  readonly status = 500
  override get message() {
    return `Scan failed: ${this.reason}`
  }
}

/** The containers of a server could not be listed. */
export class ContainersFailed extends Schema.TaggedError<ContainersFailed>()("ContainersFailed", {
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `Failed to get containers: ${this.reason}`
  }
}

/** A compose project on a server. Its directory and its name together identify it: two may have the same name. */
export const ServerStack = Schema.Struct({
  name: text("Compose's name of the project.", "shop"),
  directory: text("Its absolute directory, by compose's labels.", "/home/deployer/stacks/shop"),
  remotePath: text("The same directory as requests name it.", "~/stacks/shop"),
  exists: flag("True when the directory exists."),
  services: texts("Its services that have containers.", ["web", "db"]),
  containers: number("Number of its containers.", 2),
  running: number("Number of those that run.", 2),
  project: textOrNull(
    "The directory of the project that is deployed there; null when the projects root has none.",
    "/home/ann/projects/shop"
  )
}).annotations({ identifier: "ServerStack" })
export interface ServerStack extends Schema.Schema.Type<typeof ServerStack> {}

/** Stack that becomes a project. */
export const StackAdoptRequest = Schema.Struct({
  serverId,
  remotePath: field(RemotePathText, "The directory of the stack on the server."),
  projectPath: text("The directory of the new project, which must be empty or missing.", "/home/ann/projects/shop"),
  plan: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: "True to write nothing, here and on the server, and only show what would be fetched."
  })
}).annotations({ identifier: "StackAdoptRequest", ...strictBody })
export interface StackAdoptRequest extends Schema.Schema.Type<typeof StackAdoptRequest> {}

/** A stack as a project. */
export const StackAdoption = Schema.Struct({
  projectPath,
  files: Schema.Array(
    Schema.Struct({
      path: text("The file, relative to the project.", "compose.yml"),
      bytes: number("Its size, in bytes.", 512)
    })
  ).annotations({ description: "The files of the project; with `plan` those that it would have." }),
  services: field(Schema.Array(PlannedService), "What a deploy of the project would do now; `keep` of all, as a rule."),
  images: field(Schema.Array(ReleaseImage), "The images that run, which the first release holds."),
  warnings: texts("What stays on the server alone, and what differs from what runs."),
  release: textOrNull("The id of the release that is what runs; null with `plan`.", "1")
}).annotations({ identifier: "StackAdoption" })
export interface StackAdoption extends Schema.Schema.Type<typeof StackAdoption> {}

const mostKnown = 10

/** No compose project runs from the directory. */
export class StackUnknown extends Schema.TaggedError<StackUnknown>()("StackUnknown", {
  remotePath: Schema.String,
  server: Schema.String,
  /** Remote paths of the stacks that are there. */
  known: Schema.Array(Schema.String)
}) {
  readonly status = 404
  override get message() {
    const known = this.known.slice(0, mostKnown).map((path) => cut(path)).join(", ")
    const more = this.known.length > mostKnown ? ` and ${this.known.length - mostKnown} more` : ""
    return `No container of a compose project on "${this.server}" is from ${cut(this.remotePath)}, and nothing was ` +
      `changed. ${known === "" ? "It has no stack" : `Its stacks are in ${known}${more}`}`
  }
}

/** A stack cannot become a project as it is. */
export class StackNotAdoptable extends Schema.TaggedError<StackNotAdoptable>()("StackNotAdoptable", {
  remotePath: Schema.String,
  server: Schema.String,
  reason: Schema.String
}) {
  readonly status = 422
  override get message() {
    return `${cut(this.remotePath)} on "${this.server}" cannot be adopted: ${this.reason}. Nothing was changed`
  }
}

/** The record of the first release failed after the files had been fetched. */
export class AdoptionFailed extends Schema.TaggedError<AdoptionFailed>()("AdoptionFailed", {
  remotePath: Schema.String,
  server: Schema.String,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `${
      cut(this.remotePath)
    } on "${this.server}" was not adopted: ${this.reason}. Its containers were not touched, ` +
      "and the new project was removed again: adopt it again once that is mended"
  }
}

/** The directory of the new project holds files. */
export class ProjectNotEmpty extends Schema.TaggedError<ProjectNotEmpty>()("ProjectNotEmpty", {
  path: Schema.String,
  holds: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `${quoteInput(this.path)} holds other files, such as ${quoteInput(this.holds)}, and nothing was changed. ` +
      "Name a directory that is empty or does not exist"
  }
}
