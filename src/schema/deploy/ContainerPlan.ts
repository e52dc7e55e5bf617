import { Schema } from "effect"
import { describeMovedFacts } from "../basics/planHash.ts"
import { field, number, projectPath, storedServerId, text, texts } from "../words/describedFields.ts"
import { cut } from "../words/quoted.ts"
import { PlannedHook } from "./Hooks.ts"

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
  )
}).annotations({ identifier: "PlannedImage" })
export interface PlannedImage extends Schema.Schema.Type<typeof PlannedImage> {}

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

/** Plan of a deploy. */
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
  hooks: Schema.optionalWith(Schema.Array(PlannedHook), { exact: true }).annotations({
    description: "Commands of `hooks` in `container.json`, in their order; absent without one."
  }),
  bytesToSend: number("Bytes that a deploy would send.", 52_428_800),
  bytesTotal: number("Size of the files and the archive, in bytes.", 104_857_600),
  obstacles: texts("Obstacles that stop a deploy before it changes anything."),
  warnings: texts("Warnings, which do not stop a deploy.")
}).annotations({ identifier: "ContainerPlan" })
export interface ContainerPlan extends Schema.Schema.Type<typeof ContainerPlan> {}

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
