import { Schema } from "effect"
import { quoted } from "./quoted.ts"
import { Domain } from "./Route.ts"
import { Port } from "./Server.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const says = (message: string) => ({ message: () => message })

const Line = Schema.String.pipe(Schema.pattern(/^[^\0-\x1F\x7F]+$/, says("must be one line")))

/** The owner of a repository, or its name: one segment of its address. */
export const RepositoryWord = Schema.String.pipe(
  Schema.pattern(/^(?!\.{1,2}$)[A-Za-z0-9_.][A-Za-z0-9_.-]*$/, says("must be letters, digits, \"_\", \".\" and \"-\""))
)

/** How the platform builds an application. */
export const BuildPack = Schema.Literal("composestack", "autopack", "imagefile").annotations({
  message: () => ({ message: "must be composestack, autopack or imagefile", override: true })
})
export type BuildPack = typeof BuildPack.Type

/** One application of a project's `platform.json`, without what is null or empty in it: that counts as absent. */
export const PlatformEntry = Schema.Struct({
  /** What the application is found by. */
  name: Line,
  buildpack: optional(BuildPack),
  /** The value of `HOST_PORT`. */
  port: optional(Port),
  domain: optional(Domain),
  /** The name of a platform server. */
  server: optional(Schema.String),
  repo: optional(RepositoryWord),
  gitOwner: optional(RepositoryWord),
  branch: optional(Line),
  baseDirectory: optional(Line),
  composeLocation: optional(Line),
  static: optional(Schema.Boolean),
  publishDir: optional(Line),
  /** The compose service that the domain belongs to. */
  service: optional(Line)
}).annotations({ identifier: "PlatformEntry" })
export interface PlatformEntry extends Schema.Schema.Type<typeof PlatformEntry> {}

/** An entry as it stands in the file, every key kept. */
export const RawEntry = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "PlatformFileEntry",
  description: "An entry of platform.json as it stands in the file."
})
export type RawEntry = typeof RawEntry.Type

/** There is no `platform.json` where the project is said to be. */
export class PlatformFileMissing extends Schema.TaggedError<PlatformFileMissing>()("PlatformFileMissing", {
  path: Schema.String
}) {
  override get message() {
    return `No platform.json found in ${quoted(this.path)}: path is the absolute path of the project's directory`
  }
}

/** An entry of the file, as it is and as it is understood. */
export interface DeclaredApp {
  readonly raw: RawEntry
  readonly entry: PlatformEntry
  /** What of it Berth does not know: kept, and without effect. */
  readonly warnings: ReadonlyArray<string>
}
