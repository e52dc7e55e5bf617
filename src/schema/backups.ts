import { Schema } from "effect"
import { PlanHash } from "./basics.ts"
import { confirmField, plannedEnvironment, stackPlace } from "./environments.ts"
import { field, flag, number, strictBody, text, textOrNull, texts } from "./validation.ts"
import { formatBytes } from "./words.ts"

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
  })
}).annotations({ identifier: "Backup" })
export interface Backup extends Schema.Schema.Type<typeof Backup> {}

/** Backups of a stack, newest first. */
export const Backups = Schema.Struct({
  backups: Schema.Array(Backup).annotations({ description: "The backups, newest first." })
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
