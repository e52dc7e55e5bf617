import { Schema } from "effect"
import { flag, text, textOrNull } from "../words/describedFields.ts"

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
