import { Schema } from "effect"
import { quoted } from "./quoted.ts"
import { Domain } from "./Route.ts"
import { Port } from "./Server.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>, description: string, example: unknown) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description, example })
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
  name: Schema.propertySignature(Line).annotations({
    description: "The name of the application, by which it is found on the platform.",
    example: "hello"
  }),
  buildpack: optional(BuildPack, "How the platform builds it. Without it: `autopack`.", "composestack"),
  port: optional(Port, "The port of the host, as the variable `HOST_PORT`.", 2008),
  domain: optional(Domain, "Its domain, to which the proxy leads. Without it there is no route.", "hello.example.com"),
  server: optional(
    Schema.String,
    "The name of the platform's server. Without it: the platform's default.",
    "localhost"
  ),
  repo: optional(
    RepositoryWord,
    "The name of the repository. Without it: the name of the project's directory.",
    "hello"
  ),
  gitOwner: optional(RepositoryWord, "The owner of the repository. Without it: the setting `gitHost.owner`.", "ann"),
  branch: optional(Line, "The branch. Without it: `master`.", "main"),
  baseDirectory: optional(Line, "The directory in the repository. Without it: `/`.", "/"),
  composeLocation: optional(Line, "The compose file in the repository, for `composestack`.", "/compose.yml"),
  static: optional(Schema.Boolean, "Whether it is a static site. Without it: false.", false),
  publishDir: optional(
    Line,
    "The directory that a static site is published from. Without it: `dist`, or `/` when it is not static.",
    "dist"
  ),
  service: optional(Line, "The service of the compose file that the domain belongs to.", "web")
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
