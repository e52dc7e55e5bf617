import { Schema } from "effect"
import { projectPath, RemotePathText, serverId } from "./validation.ts"
import { cut, formatList, quoteInput, suggestNearest } from "./words.ts"

/** Name of an environment in `container.json`. */
export const EnvironmentName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, {
    message: () => ({
      message: "must be named by letters, digits, _ and -, up to 63, beginning with a letter or a digit",
      override: true
    })
  })
)

/** Maximum number of environments of a project. */
export const mostEnvironments = 32

const optional = <A, I>(schema: Schema.Schema<A, I>, description: string, example?: A) =>
  Schema.optional(Schema.NullOr(schema)).annotations({
    description,
    ...example === undefined ? {} : { examples: [example] }
  })

/** Environment of a request. */
export const environmentField = {
  environment: optional(Schema.String, "The environment of container.json to take.", "staging")
}

/** Confirmation of a request that changes a stack. */
export const confirmField = {
  confirm: optional(Schema.String, "The name of a protected environment, which confirms the change.", "production")
}

/** Place of a request that takes a project: its environment, or a server and directory; `container.json` names what is left out. */
export const projectPlace = {
  projectPath,
  ...environmentField,
  serverId: Schema.optional(Schema.NullOr(serverId)).annotations({
    description: "The id or the name of the server; container.json names it when absent.",
    examples: ["1"]
  }),
  remotePath: Schema.optional(Schema.NullOr(RemotePathText)).annotations({
    description: "The directory of the stack on the server; container.json names it when absent.",
    examples: ["~/containers/hello"]
  })
}

/** Place of a request that takes a stack: a server and directory, or a project that names them. */
export const stackPlace = {
  serverId: projectPlace.serverId,
  remotePath: projectPlace.remotePath,
  projectPath: optional(projectPath, "The project whose container.json names what is left out.", "/home/ann/hello"),
  ...environmentField
}

/** The environment of a request or a place as a field, if it has one. */
export const withEnvironment = (
  { environment }: { readonly environment?: string | null | undefined }
): { readonly environment?: string } => environment === undefined || environment === null ? {} : { environment }

/** Environment of a plan. */
export const plannedEnvironment = {
  environment: Schema.optionalWith(Schema.String, { exact: true }).annotations({
    description: "The environment that it is for; absent without one."
  }),
  protected: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description: "True when the name of the environment must confirm the change."
  })
}

/** Place of a request, as it may be given. */
export interface RequestedPlace {
  readonly projectPath?: string | null | undefined
  readonly environment?: string | null | undefined
  readonly serverId?: string | null | undefined
  readonly remotePath?: string | null | undefined
}

const names = (known: ReadonlyArray<string>) => formatList(known.map((name) => cut(name)), "or")

/** The project has no environment of this name. */
export class EnvironmentUnknown extends Schema.TaggedError<EnvironmentUnknown>()("EnvironmentUnknown", {
  project: Schema.String,
  environment: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  readonly status = 422
  override get message() {
    const about = `${quoteInput(this.project)} has no environment ${quoteInput(this.environment)}`
    return this.known.length === 0
      ? `${about}: its container.json names none under "environments". Nothing was changed`
      : `${about}.${suggestNearest(this.environment, this.known)} It has: ${names(this.known)}. Nothing was changed`
  }
}

/** The project requires an environment, and the request names none. */
export class EnvironmentRequired extends Schema.TaggedError<EnvironmentRequired>()("EnvironmentRequired", {
  project: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  readonly status = 422
  override get message() {
    return `${quoteInput(this.project)} requires an environment, and none was named: take ${
      names(this.known)
    } ("environment" in a request, --env on the command line). Nothing was changed`
  }
}

/** The environment of a request lies elsewhere than its server or directory. */
export class EnvironmentContradicted extends Schema.TaggedError<EnvironmentContradicted>()("EnvironmentContradicted", {
  environment: Schema.String,
  field: Schema.Literal("serverId", "remotePath"),
  given: Schema.String,
  /** Places of the environment, in words. */
  places: Schema.Array(Schema.String)
}) {
  readonly status = 422
  override get message() {
    return `${this.field} ${quoteInput(this.given)} contradicts the environment ${quoteInput(this.environment)}, ` +
      `which is ${names(this.places)}: leave out one of them. Nothing was changed`
  }
}

/** A place of an environment was named without the environment. */
export class EnvironmentUnnamed extends Schema.TaggedError<EnvironmentUnnamed>()("EnvironmentUnnamed", {
  project: Schema.String,
  environment: Schema.String,
  place: Schema.String
}) {
  readonly status = 422
  override get message() {
    return `${cut(this.place)} is the environment ${quoteInput(this.environment)} of ${
      quoteInput(this.project)
    }: name it ("environment" in a request, --env on the command line). Nothing was changed`
  }
}

/** A request names neither a place nor a project that would. */
export class PlaceMissing extends Schema.TaggedError<PlaceMissing>()("PlaceMissing", {
  fields: Schema.Array(Schema.String)
}) {
  readonly status = 400
  override get message() {
    return `${formatList(this.fields, "and")} ${this.fields.length === 1 ? "is" : "are"} missing: name ` +
      `${this.fields.length === 1 ? "it" : "them"}, or a project whose container.json does`
  }
}

/** The project has several places, and the request fits more than one. */
export class PlaceAmbiguous extends Schema.TaggedError<PlaceAmbiguous>()("PlaceAmbiguous", {
  project: Schema.String,
  places: Schema.Array(Schema.String)
}) {
  readonly status = 422
  override get message() {
    return `${quoteInput(this.project)} is in several places: name one with serverId and remotePath. They are ` +
      `${formatList(this.places.slice(0, mostEnvironments).map((place) => cut(place)), "and")}. Nothing was changed`
  }
}

/** A protected environment was to be changed, without its name as the confirmation. */
export class EnvironmentProtected extends Schema.TaggedError<EnvironmentProtected>()("EnvironmentProtected", {
  environment: Schema.String,
  /** Project that the environment is of, where the request names another one. */
  project: Schema.optional(Schema.String),
  /** The given confirmation, if there was another one. */
  given: Schema.NullOr(Schema.String)
}) {
  readonly status = 403
  override get message() {
    const name = quoteInput(this.environment)
    const why = this.given === null ? "" : `, and ${quoteInput(this.given)} is not its name`
    const whose = this.project === undefined ? "" : ` of ${quoteInput(this.project)}`
    return `The environment ${name}${whose} is protected${why}: nothing was changed. Confirm the change by the name of the ` +
      `environment: "confirm": ${name} in a request, --confirm ${cut(this.environment)} on the command line`
  }
}

/** Reasons why the environment of a request is refused. */
export type EnvironmentRefused =
  | EnvironmentContradicted
  | EnvironmentProtected
  | EnvironmentRequired
  | EnvironmentUnknown
  | EnvironmentUnnamed
  | PlaceAmbiguous
  | PlaceMissing
