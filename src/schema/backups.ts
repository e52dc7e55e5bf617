import { Duration, Schema } from "effect"
import { describeMovedFacts, DurationText, HookCommand, PlanHash } from "./basics.ts"
import { confirmField, plannedEnvironment, stackPlace } from "./environments.ts"
import { RemotePath } from "./servers.ts"
import { field, flag, number, strictBody, text, textOrNull, texts } from "./validation.ts"
import { appendSentence, cut, formatBytes, quoteInput } from "./words.ts"

/** Databases whose dump and restore are written out. */
export const BackupKind = Schema.Literal("postgres", "mysql", "mariadb", "mongo", "redis", "sqlite")
export type BackupKind = typeof BackupKind.Type

/** Name of an item, which becomes part of a file's name. */
const BackupItemName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, {
    message: () => "must be a name of up to 63 letters, digits, hyphens and underscores"
  })
)

export const isBackupItemName = Schema.is(BackupItemName)

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
/** Name of a service or a volume, as compose allows it. */
const ComposeName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, { message: () => "must be a name of the compose file" })
)
/** Absolute path of a file in a container. */
const isFilePath = (path: string) =>
  // oxlint-disable-next-line no-control-regex
  path.length <= 1024 && /^\/[^\u0000-\u001f\u007f]*[^\u0000-\u001f\u007f/]$/.test(path) &&
  !path.split("/").some((part) => part === "." || part === "..")
const FileInContainer = Schema.String.pipe(
  Schema.filter((path) => isFilePath(path) || "must be the absolute path of a file in the container, without \"..\"")
)

const shapes = "needs one of: kind and service; volume; service, dump and restore"

/** Something that a backup keeps: a database, a volume, or what two commands of a service write and read. */
const BackupItem = Schema.Struct({
  kind: optional(BackupKind),
  service: optional(ComposeName),
  path: optional(FileInContainer),
  volume: optional(ComposeName),
  dump: optional(HookCommand),
  restore: optional(HookCommand),
  stop: optional(Schema.Array(ComposeName).pipe(Schema.maxItems(50))),
  allowEmpty: optional(Schema.Boolean)
}).pipe(
  Schema.filter(({ dump, kind, path, restore, service, stop, volume }) => {
    const has = (value: unknown) => value !== undefined && value !== null
    const given = [has(kind), has(service), has(volume), has(dump), has(restore)].map((is) => is ? "1" : "0").join("")
    if (!["11000", "00100", "01011"].includes(given)) return shapes
    if ((kind === "sqlite") !== has(path)) return "needs path, the database's file in the container, for sqlite alone"
    return !has(service) || !stop?.includes(service ?? "") || "must not stop the service that it is dumped in"
  })
)
export interface BackupItem extends Schema.Schema.Type<typeof BackupItem> {}

const mostItems = 20

const shortestEvery = Duration.minutes(10)
const longestEvery = Duration.days(365)

/** Interval of scheduled backups. */
const BackupInterval = DurationText.pipe(
  Schema.filter((every) =>
    Duration.between(every, { minimum: shortestEvery, maximum: longestEvery }) ||
    "must be between 10 minutes and 365 days"
  )
)

const copyFields = "needs to: here, or to: server with server and path, or to: restic with repository"

/** Place outside of a stack's server that gets a copy of each backup. */
const BackupCopy = Schema.Struct({
  to: Schema.Literal("here", "server", "restic"),
  server: optional(Schema.NonEmptyTrimmedString),
  path: optional(RemotePath),
  repository: optional(Schema.NonEmptyTrimmedString)
}).pipe(
  Schema.filter(({ path, repository, server, to }) => {
    const given = [server, path, repository].map((value) => value === undefined || value === null ? "0" : "1").join("")
    return given === { here: "000", server: "110", restic: "001" }[to] || copyFields
  })
)
export interface BackupCopy extends Schema.Schema.Type<typeof BackupCopy> {}

/** Name of a copy's place: `here`, `restic`, or that of the server. */
export const nameCopyPlace = ({ server, to }: BackupCopy): string => server ?? to

const mostCopies = 5

/** `backups` of `container.json`. */
export const BackupConfig = Schema.Struct({
  beforeDeploy: optional(Schema.Boolean),
  keep: optional(
    Schema.Number.pipe(Schema.int(), Schema.between(1, 1000)).annotations({
      message: () => ({ message: "must be a whole number from 1 to 1000", override: true })
    })
  ),
  every: optional(BackupInterval),
  copies: optional(
    Schema.Array(BackupCopy).pipe(
      Schema.maxItems(mostCopies),
      Schema.filter((copies) =>
        new Set(copies.map(nameCopyPlace)).size === copies.length || "must not name a place twice"
      )
    )
  ),
  items: Schema.Record({ key: BackupItemName, value: BackupItem }).pipe(
    Schema.filter((items) => {
      const count = Object.keys(items).length
      return (count > 0 && count <= mostItems) || `must name from 1 to ${mostItems} items`
    })
  )
})
export interface BackupConfig extends Schema.Schema.Type<typeof BackupConfig> {}

const chosenItems = Schema.optional(Schema.NullOr(Schema.Array(Schema.String))).annotations({
  description: "Names of items; all of them when absent."
})

/** Reason for a backup: a deploy or rollback, a request, its time, or a restore, which keeps what it replaces. */
export const BackupTrigger = Schema.Literal("deploy", "request", "schedule", "restore")
export type BackupTrigger = typeof BackupTrigger.Type

/** Item of a backup. */
const BackupData = Schema.Struct({
  name: text("Its name in container.json.", "database"),
  bytes: number("Its size on the server, packed.", 1_048_576),
  sha256: text("Hash of what is stored.", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")
})

/** A whole backup. */
export const Backup = Schema.Struct({
  id: text("Identifier at its remote path; later ones have higher numbers.", "12"),
  release: textOrNull("The release that ran.", "11"),
  takenAt: text("When it was taken, in UTC by the server's clock.", "2026-01-02T03:04:05Z"),
  by: text("Caller that had it taken.", "ann@laptop"),
  trigger: BackupTrigger.annotations({ description: "Reason: what it came before, or what asked for it." }),
  items: Schema.Array(BackupData).annotations({ description: "Its items." }),
  copies: Schema.Array(Schema.Struct({
    to: text("Place of the copy.", "here"),
    verified: flag("True if it was compared by hash at its place.")
  })).annotations({
    description: "Copies elsewhere, and whether each was compared by hash at its place."
  }),
  onServer: flag("True while its server has it; false where only copies of it are left.")
}).annotations({ identifier: "Backup" })
export interface Backup extends Schema.Schema.Type<typeof Backup> {}

/** Describes where a backup is: `server, here, vault (failed)`. */
export const describeBackupPlaces = ({ copies, onServer }: Pick<Backup, "copies" | "onServer">): string =>
  [...onServer ? ["server"] : [], ...copies.map(({ to, verified }) => verified ? to : `${to} (failed)`)].join(", ")

/** Backups of a stack, newest first. */
export const Backups = Schema.Struct({
  backups: Schema.Array(Backup).annotations({ description: "The backups, newest first." }),
  warnings: texts("Places of copies that could not be read.")
}).annotations({ identifier: "Backups" })

/** Item that a deploy or a rollback backs up before it replaces anything. */
export const PlannedBackup = Schema.Struct({
  item: text("Its name in container.json.", "database"),
  source: text("Its database, volume or command.", "postgres in db"),
  bytesLast: Schema.NullOr(Schema.Number).annotations({
    description: "Its size in the last backup that has it; null before the first one."
  }),
  stops: texts("Services that are stopped while it is copied.", ["web"]),
  seconds: Schema.NullOr(Schema.Number).annotations({ description: "Time that the last backup of it took." })
}).annotations({ identifier: "PlannedBackup" })
export interface PlannedBackup extends Schema.Schema.Type<typeof PlannedBackup> {}

/** Describes it in a line: `database, postgres in db: 1 MB and 2 s the last time; stops web`. */
export const describePlannedBackup = ({ bytesLast, item, seconds, source, stops }: PlannedBackup): string =>
  `${item}, ${source}: ` +
  (bytesLast === null ? "the first one" : `${formatBytes(bytesLast)} and ${seconds ?? 0} s the last time`) +
  (stops.length === 0 ? "" : `; stops ${stops.join(", ")} meanwhile`)

/** A backup to read again. */
export const VerifyRequest = Schema.Struct({ ...stackPlace, backup: text("The id of the backup.", "12") }).annotations({
  identifier: "BackupVerifyRequest",
  ...strictBody
})
export interface VerifyRequest extends Schema.Schema.Type<typeof VerifyRequest> {}

/** Result of reading a backup. */
export const BackupVerified = Schema.Struct({
  whole: flag("True when every byte is as it was written."),
  items: Schema.Array(Schema.Struct({
    name: text("Its name.", "database"),
    state: Schema.Literal("whole", "changed", "missing").annotations({ description: "What its file is like now." })
  })).annotations({ description: "Its items." })
}).annotations({ identifier: "BackupVerified" })
export interface BackupVerified extends Schema.Schema.Type<typeof BackupVerified> {}

/** Stack to back up. */
export const BackupRequest = Schema.Struct({ ...stackPlace, items: chosenItems }).annotations({
  identifier: "BackupRequest",
  ...strictBody
})
export interface BackupRequest extends Schema.Schema.Type<typeof BackupRequest> {}

/** Result of a backup. */
export const BackupResult = Schema.Struct({
  success: flag("True when every item was kept."),
  backup: text("The id of the backup.", "12"),
  message: text("Outcome in words.")
}).annotations({ identifier: "BackupResult" })
export interface BackupResult extends Schema.Schema.Type<typeof BackupResult> {}

/** Backup to restore, and what of it. */
export const RestorePlanRequest = Schema.Struct({
  ...stackPlace,
  backup: text("The id of the backup.", "12"),
  items: chosenItems
}).annotations({ identifier: "RestorePlanRequest", ...strictBody })
export interface RestorePlanRequest extends Schema.Schema.Type<typeof RestorePlanRequest> {}

/** Plan of a restore. */
export const RestorePlan = Schema.Struct({
  planHash: Schema.String.annotations({ description: "Sent with a restore, it holds the restore to this plan." }),
  ...plannedEnvironment,
  backup: field(Backup, "The backup."),
  stops: texts("Services that are stopped meanwhile.", ["web"]),
  items: Schema.Array(BackupData).annotations({ description: "What is put back." }),
  lost: Schema.Struct({
    since: text("Time of the backup: what was written after it is replaced.", "2026-01-02T03:04:05Z"),
    releases: texts("Releases that were started after it.", ["12"])
  }).annotations({ description: "What is replaced. A backup of it is taken first." }),
  warnings: texts("Warnings.")
}).annotations({ identifier: "RestorePlan" })
export interface RestorePlan extends Schema.Schema.Type<typeof RestorePlan> {}

/** Backup to restore, and the plan that binds the restore. */
export const RestoreRequest = Schema.Struct({
  ...RestorePlanRequest.fields,
  ...confirmField,
  planHash: Schema.optional(Schema.NullOr(PlanHash)).annotations({
    description: "The planHash of a plan: where something has moved since, nothing is changed and the answer is a 409."
  }),
  discard: Schema.optional(Schema.NullOr(Schema.Boolean)).annotations({
    description: "True to restore although the data of now cannot be kept first, for example since it is broken."
  })
}).annotations({ identifier: "RestoreRequest", ...strictBody })
export interface RestoreRequest extends Schema.Schema.Type<typeof RestoreRequest> {}

/** Result of a restore. */
export const RestoreResult = Schema.Struct({
  success: flag("True when the data of the backup is in place."),
  backup: text("The id of the restored backup.", "12"),
  before: textOrNull("The id of the backup of what was replaced.", "13"),
  message: text("Outcome in words.")
}).annotations({ identifier: "RestoreResult" })
export interface RestoreResult extends Schema.Schema.Type<typeof RestoreResult> {}

/** A backup or a restore failed. */
export class BackupFailed extends Schema.TaggedError<BackupFailed>()("BackupFailed", {
  program: Schema.Literal("Backup", "Copy", "Restore"),
  remotePath: Schema.String,
  server: Schema.String,
  reason: Schema.String,
  /** State of the server, as a sentence without its full stop. */
  state: Schema.String,
  status: Schema.optionalWith(Schema.Number, { default: () => 502 })
}) {
  override get message() {
    const place = `${cut(this.remotePath)} on "${this.server}"`
    return appendSentence(`${this.program} of ${place} failed: ${this.reason.replace(/\.$/, "")}`, this.state)
  }
}

/** The stack does not say what a backup keeps. */
export class NothingToBackUp extends Schema.TaggedError<NothingToBackUp>()("NothingToBackUp", {
  remotePath: Schema.String,
  server: Schema.String
}) {
  readonly status = 422
  override get message() {
    return `The stack at ${cut(this.remotePath)} on "${this.server}" names nothing to back up, and nothing was done: ` +
      "add \"backups\" to container.json and deploy it once"
  }
}

const mostNamed = 20

/** There is no backup, or no item of it, with this name. */
export class BackupNotFound extends Schema.TaggedError<BackupNotFound>()("BackupNotFound", {
  what: Schema.Literal("backup", "item"),
  wanted: Schema.String,
  place: Schema.String,
  known: Schema.Array(Schema.String),
  /** Places of copies that could not be read, as sentences. */
  unread: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
}) {
  readonly status = 404
  override get message() {
    const known = this.known.length === 0 ? "There are none" : `Known: ${this.known.slice(0, mostNamed).join(", ")}`
    const unread = this.unread.map((sentence) => `. ${sentence}`).join("")
    return `There is no ${this.what} ${quoteInput(this.wanted)} in ${
      cut(this.place)
    }. ${known}${unread}. Nothing was ` +
      "changed"
  }
}

/** No backup was taken while a release ran, so a rollback to it cannot bring its data. */
export class ReleaseHasNoBackup extends Schema.TaggedError<ReleaseHasNoBackup>()("ReleaseHasNoBackup", {
  release: Schema.String,
  place: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  readonly status = 404
  override get message() {
    const known = this.known.length === 0 ? "There are none" : `Known: ${this.known.slice(0, mostNamed).join(", ")}`
    return `No backup of ${cut(this.place)} was taken while release ${cut(this.release)} ran, so it has no data to ` +
      `bring back. ${known}. Nothing was changed`
  }
}

/** The backup was taken by another version, so what its items were is unknown. */
export class BackupUnreadable extends Schema.TaggedError<BackupUnreadable>()("BackupUnreadable", {
  backup: Schema.String,
  place: Schema.String
}) {
  readonly status = 409
  override get message() {
    return `Backup ${cut(this.backup)} of ${
      cut(this.place)
    } does not say what its items are in words of this Berth, and ` +
      `nothing was changed: its files are in .berth/backups/${cut(this.backup)} there`
  }
}

/** A fact has changed since the plan was made. */
export class RestorePlanMoved extends Schema.TaggedError<RestorePlanMoved>()("RestorePlanMoved", {
  remotePath: Schema.String,
  server: Schema.String,
  moved: Schema.Array(Schema.String)
}) {
  readonly status = 409
  override get message() {
    return describeMovedFacts(`The plan of a restore of ${cut(this.remotePath)} on "${this.server}"`, this.moved)
  }
}
