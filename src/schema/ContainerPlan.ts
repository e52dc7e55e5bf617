import { Schema } from "effect"
import { field, number, projectPath, storedServerId, text, texts } from "./described.ts"
import { movedWords } from "./PlatformPlan.ts"
import { cut } from "./quoted.ts"

/** What a deploy would do about a file. */
export const PlannedFile = Schema.Struct({
  name: text("The file, relative to the project and to the remote path.", "compose.yml"),
  change: Schema.Literal("new", "changed", "same", "removed").annotations({
    description: "`removed`: an earlier deploy brought it, and the project no longer has it."
  }),
  bytes: number("Its size here; 0 for one that would be removed.", 1024)
}).annotations({ identifier: "PlannedFile" })
export interface PlannedFile extends Schema.Schema.Type<typeof PlannedFile> {}

/** What a deploy would do about an image. */
export const PlannedImage = Schema.Struct({
  name: text("The name of the image.", "hello:latest"),
  change: Schema.Literal("new", "changed", "same").annotations({
    description: "Whether the name means nothing on the server yet, another image, or this one."
  }),
  bytesToSend: number("What would be sent of the archive for it; layers that images share count once.", 52_428_800)
}).annotations({ identifier: "PlannedImage" })
export interface PlannedImage extends Schema.Schema.Type<typeof PlannedImage> {}

/** What a deploy would do about a service. */
export const PlannedService = Schema.Struct({
  name: text("The name of the service.", "web"),
  change: Schema.Literal("create", "recreate", "keep", "remove").annotations({
    description: "What would become of its containers; `keep` starts one that is stopped."
  })
}).annotations({ identifier: "PlannedService" })
export interface PlannedService extends Schema.Schema.Type<typeof PlannedService> {}

/** What a deploy would do now. */
export const ContainerPlan = Schema.Struct({
  planHash: Schema.String.annotations({ description: "Sent with a deploy, it holds the deploy to this plan." }),
  projectPath,
  serverId: storedServerId,
  remotePath: text("The directory of the stack on the server.", "~/containers/hello"),
  files: field(Schema.Array(PlannedFile), "The files that a deploy brings or removes."),
  images: field(Schema.Array(PlannedImage), "The images of the archive, and those that the stack names beside them."),
  services: field(
    Schema.Array(PlannedService),
    "The services of the project, and those that run there without being in it."
  ),
  bytesToSend: number("How many bytes a deploy would send.", 52_428_800),
  bytesTotal: number("How many bytes the files and the archive have.", 104_857_600),
  obstacles: texts("What a deploy would stop at before it changed anything."),
  warnings: texts("What does not stop a deploy, and is worth knowing.")
}).annotations({ identifier: "ContainerPlan" })
export interface ContainerPlan extends Schema.Schema.Type<typeof ContainerPlan> {}

/** What a deploy would do is not what was planned. */
export class DeployPlanMoved extends Schema.TaggedError<DeployPlanMoved>()("DeployPlanMoved", {
  remotePath: Schema.String,
  server: Schema.String,
  moved: Schema.Array(Schema.String)
}) {
  readonly status = 409
  override get message() {
    return movedWords(`The plan for ${cut(this.remotePath)} on "${this.server}"`, this.moved)
  }
}
