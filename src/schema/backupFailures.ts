import { Schema } from "effect"
import { describeMovedFacts } from "./basics.ts"
import { appendSentence, cut, quoteInput } from "./words.ts"

/** A backup or a restore failed. */
export class BackupFailed extends Schema.TaggedError<BackupFailed>()("BackupFailed", {
  program: Schema.Literal("Backup", "Restore"),
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
  known: Schema.Array(Schema.String)
}) {
  readonly status = 404
  override get message() {
    const known = this.known.length === 0 ? "There are none" : `Known: ${this.known.slice(0, mostNamed).join(", ")}`
    return `There is no ${this.what} ${quoteInput(this.wanted)} in ${cut(this.place)}. ${known}. Nothing was changed`
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
