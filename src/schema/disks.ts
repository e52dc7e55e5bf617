import { Schema } from "effect"
import { describeMovedFacts, DurationText } from "./basics.ts"
import { field, flag, number, strictBody, text, textOrNull, texts } from "./validation.ts"
import { cut } from "./words.ts"

const measured = (description: string) => field(Schema.NullOr(Schema.Number), `${description}; null if not known.`)

/** Owner of an image. */
export const ImageOwner = Schema.Struct({
  kind: Schema.Literal("release", "stack", "foreign", "nobody").annotations({
    description:
      "release: a release needs it; stack: a container of a compose project uses it; foreign: another container uses it, or " +
      "somebody else named it; nobody: neither."
  }),
  path: Schema.optionalWith(Schema.String, { exact: true }).annotations({ description: "The directory of its stack." }),
  release: Schema.optionalWith(Schema.String, { exact: true }).annotations({ description: "The newest such release." })
}).annotations({ identifier: "ImageOwner" })
export interface ImageOwner extends Schema.Schema.Type<typeof ImageOwner> {}

const id = text("Its id.", "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")

/** Space on a server, and its owners. */
export const DiskUse = Schema.Struct({
  disks: Schema.Array(Schema.Struct({
    mount: text("Where it is mounted.", "/"),
    bytes: number("Its size.", 80_000_000_000),
    used: number("Bytes that are not free for the user that Berth logs in as.", 60_000_000_000),
    inodes: measured("Its inodes"),
    inodesUsed: measured("Inodes in use")
  })).annotations({ description: "The file systems of ~/containers and of Docker." }),
  images: Schema.Array(Schema.Struct({
    id,
    names: texts("Its names.", ["hello:1"]),
    bytes: number("Its size, with layers that others share.", 120_000_000),
    own: measured("Bytes of its layers that no other image has"),
    owner: ImageOwner.annotations({ description: "Who needs it." }),
    brought: flag("True if Berth brought it.")
  })).annotations({ description: "The images, largest first." }),
  buildCache: Schema.Struct({
    records: number("Its records.", 12),
    bytes: number("Their size.", 800_000_000),
    unused: number("Bytes of the records that no build uses now.", 800_000_000)
  }).annotations({ description: "Docker's build cache." }),
  logs: Schema.Array(Schema.Struct({
    container: text("The name of the container.", "hello-web-1"),
    bytes: measured("Size of its log"),
    limit: field(Schema.NullOr(Schema.Number), "Largest size of its log; null: it grows without end.")
  })).annotations({ description: "The logs that Docker keeps in files, the longest first." }),
  volumes: Schema.Array(Schema.Struct({
    name: text("Its name.", "hello_data"),
    bytes: measured("Its size"),
    usedBy: texts("Names of its containers, stopped ones too.", ["hello-db-1"]),
    changedAt: textOrNull("When its directory changed last, in UTC; null if not known.")
  })).annotations({ description: "The volumes; those without a container first." }),
  stacks: Schema.Array(Schema.Struct({
    path: text("The directory.", "/home/ann/containers/hello"),
    releases: number("Number of its releases.", 5),
    bytes: number("Size of the files of its releases.", 40_000),
    backups: number("Size of its backups.", 0)
  })).annotations({ description: "The directories in which Berth keeps releases." }),
  backups: number("Size of all backups on the server.", 0)
}).annotations({ identifier: "DiskUse" })
export interface DiskUse extends Schema.Schema.Type<typeof DiskUse> {}

const PruneKind = Schema.Literal("image", "cache", "volume")
export type PruneKind = typeof PruneKind.Type

const options = {
  olderThan: Schema.optional(DurationText).annotations({
    description: "Only images and cache that are older: 7 days."
  }),
  buildCache: Schema.optional(Schema.Boolean).annotations({ description: "True: also the build cache." }),
  others: Schema.optional(Schema.Boolean).annotations({
    description: "True: also images that Berth did not bring and no container and no release needs."
  }),
  volumes: Schema.optional(Schema.Array(Schema.String.pipe(Schema.minLength(1))).pipe(Schema.maxItems(50))).annotations(
    {
      description: "Names of volumes to remove, with what is in them."
    }
  )
}

const pruned = PruneKind.annotations({ description: "An image, a record of the build cache, or a volume." })

/** Options of a clean-up: kinds and ages that may be removed. */
export const PruneOptions = Schema.Struct(options).annotations({ identifier: "PruneOptions", ...strictBody })
export interface PruneOptions extends Schema.Schema.Type<typeof PruneOptions> {}

// Longer than other hashes: it has a digest for each item, so that each is held to the plan by itself.
const PruneHash = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9_-]{11,20000}$/, { message: () => "must be the planHash of a plan, as it was answered" })
)

/** Request to remove what a plan names. */
export const PruneRequest = Schema.Struct({
  ...options,
  planHash: PruneHash.annotations({ description: "The planHash of a plan with the same options." })
}).annotations({ identifier: "PruneRequest", ...strictBody })
export interface PruneRequest extends Schema.Schema.Type<typeof PruneRequest> {}

const because = text("The reason.", "no release and no container needs it")

/** Plan of a clean-up. */
export const PrunePlan = Schema.Struct({
  planHash: text("Sent with the request, it holds the clean-up to this plan."),
  remove: Schema.Array(Schema.Struct({
    kind: pruned,
    id,
    names: texts("Its names.", ["hello:1"]),
    bytes: measured("Bytes that it alone takes"),
    because
  })).annotations({ description: "What would be removed." }),
  keep: Schema.Array(Schema.Struct({ id, names: texts("Its names.", ["hello:2"]), because })).annotations({
    description: "Images that stay, and volumes that were named and stay."
  }),
  frees: number("Bytes that would be freed at least.", 300_000_000)
}).annotations({ identifier: "PrunePlan" })
export interface PrunePlan extends Schema.Schema.Type<typeof PrunePlan> {}

/** Result of a clean-up. */
export const PruneResult = Schema.Struct({
  removed: Schema.Array(Schema.Struct({ kind: pruned, id, names: texts("Its names.") })).annotations({
    description: "What was removed."
  }),
  skipped: Schema.Array(Schema.Struct({ kind: pruned, id, names: texts("Its names."), because })).annotations({
    description: "What the plan names and stays, since it is in use now."
  }),
  freed: measured("Bytes by which the free space of Docker's disk grew"),
  message: text("What was done.", "Removed 3 images from \"Main\", which freed 300 MB.")
}).annotations({ identifier: "PruneResult" })
export interface PruneResult extends Schema.Schema.Type<typeof PruneResult> {}

/** The space of a server could not be read or freed. */
export class DiskFailed extends Schema.TaggedError<DiskFailed>()("DiskFailed", {
  server: Schema.String,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `"${this.server}": ${this.reason}`
  }
}

/** A deploy is under way on the server. */
export class PruneBusy extends Schema.TaggedError<PruneBusy>()("PruneBusy", {
  server: Schema.String,
  directory: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `A deploy is under way in ${this.directory} on "${this.server}". Nothing was removed. Clean up when it has ended`
  }
}

/** The plan is for other options, or was made by another Berth. */
export class PruneMoved extends Schema.TaggedError<PruneMoved>()("PruneMoved", {
  server: Schema.String,
  reason: Schema.String
}) {
  readonly status = 409
  override get message() {
    return describeMovedFacts(`The plan for ${JSON.stringify(cut(this.server))}`, [this.reason])
  }
}
