import { Schema } from "effect"
import { PlannedBackup, RestorePlan } from "./backups.ts"
import { ChangedFile, PlannedService } from "./deploys.ts"
import { plannedEnvironment } from "./environments.ts"
import { field, flag, storedServerId, text, texts } from "./validation.ts"
import { cut, quoteInput } from "./words.ts"

/** Image of a release: its name in the compose file, and the id that the name had. */
export const ReleaseImage = Schema.Struct({
  name: text("Its name.", "hello:latest"),
  id: text("Its id on the server.", "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")
}).annotations({ identifier: "ReleaseImage" })
export interface ReleaseImage extends Schema.Schema.Type<typeof ReleaseImage> {}

/** Commit of the git checkout that a release was deployed from. */
export const ReleaseSource = Schema.Struct({
  commit: text("The commit.", "0f1e2d3c4b5a69788796a5b4c3d2e1f001234567"),
  dirty: flag("True when files of the project differed from it.")
}).annotations({ identifier: "ReleaseSource" })
export interface ReleaseSource extends Schema.Schema.Type<typeof ReleaseSource> {}

/** Compose file, env files and image ids of one deploy at a remote path. */
export const Release = Schema.Struct({
  id: text("Identifier at its remote path; later ones have higher numbers.", "12"),
  at: text("When it was started, in UTC by the server's clock.", "2026-01-02T03:04:05Z"),
  by: text("Caller that deployed it: the name of the token, or user@machine.", "ann@laptop"),
  images: Schema.Array(ReleaseImage).annotations({ description: "The images that it runs." }),
  files: texts("The files that it consists of, below the remote path.", ["compose.yml", ".env"]),
  source: Schema.optionalWith(ReleaseSource, { exact: true }).annotations({
    description: "Absent where the project was not a git checkout."
  }),
  environment: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "The environment that it was deployed as; absent without one."
  }),
  current: flag("True when it is the one that the directory holds now."),
  available: flag("True when the server still has all of its images, so that a rollback to it is possible.")
}).annotations({ identifier: "Release" })
export interface Release extends Schema.Schema.Type<typeof Release> {}

/** Describes the source of a release: its short commit, and that files differed from it. */
export const describeSource = ({ source }: Pick<Release, "source">): string =>
  source === undefined ? "" : source.commit.slice(0, 10) + (source.dirty ? " and changes" : "")

/** The releases of a server's directory could not be listed. */
export class ReleasesFailed extends Schema.TaggedError<ReleasesFailed>()("ReleasesFailed", {
  remotePath: Schema.String,
  server: Schema.String,
  reason: Schema.String
}) {
  readonly status = 502
  override get message() {
    return `The releases in ${cut(this.remotePath)} on "${this.server}" cannot be listed: ${this.reason}`
  }
}

const mostNamed = 20

/** No release has this id. */
export class ReleaseNotFound extends Schema.TaggedError<ReleaseNotFound>()("ReleaseNotFound", {
  /** The requested release; null for the one before the current one. */
  release: Schema.NullOr(Schema.String),
  remotePath: Schema.String,
  server: Schema.String,
  /** Existing ids, newest first; `current` is one of them or null. */
  known: Schema.Array(Schema.String),
  current: Schema.NullOr(Schema.String)
}) {
  readonly status = 404
  override get message() {
    const where = `${cut(this.remotePath)} on "${this.server}"`
    if (this.known.length === 0) {
      return `There is no release to go back to in ${where}: each deploy leaves one. Nothing was changed`
    }
    const named = this.known.slice(0, mostNamed).map((id) => id === this.current ? `${id} (the current one)` : id)
    const known = `Known releases: ${named.join(", ")}. Nothing was changed`
    return this.release === null
      ? `There is no release before the current one in ${where}. ${known}`
      : `There is no release ${quoteInput(this.release)} in ${where}. ${known}`
  }
}

/** The release cannot run, because the server no longer has one of its images. */
export class ReleaseUnavailable extends Schema.TaggedError<ReleaseUnavailable>()("ReleaseUnavailable", {
  release: Schema.String,
  server: Schema.String,
  /** Names and ids of the missing images. */
  missing: Schema.Array(Schema.String),
  current: Schema.NullOr(Schema.String),
  /** Other releases that can run. */
  available: Schema.Array(Schema.String)
}) {
  readonly status = 409
  override get message() {
    const images = this.missing.slice(0, 3).join(", ") + (this.missing.length > 3 ? " and others" : "")
    const next = this.available.length === 0
      ? "Deploy the project again"
      : `Deploy the project again, or go back to release ${this.available.slice(0, mostNamed).join(" or ")}`
    return `Release ${this.release} cannot run: "${this.server}" no longer has ${images}. Nothing was changed` +
      (this.current === null ? "" : `: release ${this.current} is still the current one`) + `. ${next}`
  }
}

/** Service in two releases, with its image in each. */
export const ComparedService = Schema.Struct({
  name: text("The name of the service.", "web"),
  change: Schema.Literal("new", "changed", "same", "removed").annotations({
    description: "`changed`: it runs another image, or one under another name."
  }),
  from: Schema.NullOr(ReleaseImage).annotations({
    description: "Its image in the earlier release; null where that is not known or it has no such service."
  }),
  to: Schema.NullOr(ReleaseImage).annotations({
    description: "Its image in the later release; null where that is not known or it has no such service."
  })
}).annotations({ identifier: "ComparedService" })
export interface ComparedService extends Schema.Schema.Type<typeof ComparedService> {}

/** Difference between two releases of a remote path. */
export const ReleaseComparison = Schema.Struct({
  serverId: storedServerId,
  remotePath: text("The directory of the stack on the server.", "~/containers/hello"),
  from: Release.annotations({ description: "The release that is compared." }),
  to: Release.annotations({ description: "The release that it is compared with." }),
  services: field(Schema.Array(ComparedService), "The services of both releases, by name."),
  files: field(Schema.Array(ChangedFile), "The files of both releases, by name.")
}).annotations({ identifier: "ReleaseComparison" })
export interface ReleaseComparison extends Schema.Schema.Type<typeof ReleaseComparison> {}

/** Plan of a rollback. */
export const RollbackPlan = Schema.Struct({
  serverId: storedServerId,
  remotePath: text("The directory of the stack on the server.", "~/containers/hello"),
  ...plannedEnvironment,
  release: Release.annotations({ description: "The release that would run." }),
  files: field(
    Schema.Array(ChangedFile),
    "The files of the release beside what lies there now, and those that would be removed."
  ),
  services: field(
    Schema.Array(PlannedService),
    "The services of the release, and those that run there without being in it."
  ),
  backups: Schema.optionalWith(Schema.Array(PlannedBackup), { exact: true }).annotations({
    description: "Data that is kept before anything is replaced; absent without any."
  }),
  restore: Schema.optionalWith(RestorePlan.omit("planHash"), { exact: true }).annotations({
    description: "With withData: the data that comes back, and what is lost."
  }),
  obstacles: texts("Obstacles that stop a rollback before it changes anything."),
  warnings: texts("Warnings, which do not stop a rollback.")
}).annotations({ identifier: "RollbackPlan" })
export interface RollbackPlan extends Schema.Schema.Type<typeof RollbackPlan> {}

/** True if a rollback changes something. */
export const hasRollbackChanges = ({ files, services }: Pick<RollbackPlan, "files" | "services">): boolean =>
  files.some(({ change }) => change !== "same") || services.some(({ change }) => change !== "keep")
