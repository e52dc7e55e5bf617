import { Schema } from "effect"
import { Domain } from "./routes.ts"
import { Port } from "./servers.ts"

/** Build pack of an application. */
export const BuildPack = Schema.Literal("composestack", "autopack", "imagefile").annotations({
  message: () => ({ message: "must be composestack, autopack or imagefile", override: true })
})
export type BuildPack = typeof BuildPack.Type

/** The fields of an entry that defaults and conditions of its other fields depend on. */
export interface EntryContext {
  readonly buildpack?: BuildPack
  readonly static?: boolean
}

type BuildPacks = ReadonlyArray<BuildPack>

/** Column of a declared field in the platform's application record. */
export interface RecordColumn {
  /** Neutral key. */
  readonly key: string
  /** Coolify's key, if different. */
  readonly coolify?: string
  /** Type of the value. Coolify requires a leading slash in a `path`. */
  readonly kind: "text" | "path" | "flag"
  /** Usual type of its value, for the description of the API. */
  readonly usually: string
  readonly description: string
  /** Value that a record without the key implies. */
  readonly absent?: (entry: EntryContext) => string | boolean | undefined
  /** Build packs whose applications have it written; all by default. */
  readonly writtenFor?: BuildPacks
  /** Build packs whose updates record a change of it; default `writtenFor`. */
  readonly recordedFor?: BuildPacks
  /** Declared build packs for which drift compares it; default `recordedFor`. */
  readonly comparedFor?: BuildPacks
  readonly comparedIf?: (entry: EntryContext) => boolean
}

/** A row of the table of declared fields, without its name. */
interface Row<A, I, F, R> {
  readonly schema: Schema.Schema<A, I>
  /** Label in drift, plans and the changelog. */
  readonly label: string
  /** Meaning of the field, for the docs. */
  readonly description: string
  readonly example: NoInfer<A>
  /** Default of an entry without the field; undefined if there is none, or if settings or the directory decide. */
  readonly fallback: F
  /** Undefined if the field is applied in another way: as a variable, a route, or the place of the application. */
  readonly record: R
}

/** Creates the property of an entry's schema for a field, with its row attached. */
export const defineField = <
  A,
  I,
  const F extends NoInfer<A> | ((entry: EntryContext) => NoInfer<A>) | undefined,
  const R extends RecordColumn | undefined
>({ description, example, fallback, label, record, schema }: Row<A, I, F, R>) =>
  Object.assign(Schema.optionalWith(schema, { exact: true }).annotations({ description, example }), {
    label,
    fallback,
    record
  })

/** Environment variable with the port of an application. */
export const hostPortKey = "HOST_PORT"

const says = (message: string) => ({ message: () => message })

/** Text without line breaks or control characters. */
export const Line = Schema.String.pipe(Schema.pattern(/^[^\0-\x1F\x7F]+$/, says("must be one line")))

/** The owner of a repository, or its name: one segment of its address. */
export const RepositoryWord = Schema.String.pipe(
  Schema.pattern(/^(?!\.{1,2}$)[A-Za-z0-9_.][A-Za-z0-9_.-]*$/, says("must be letters, digits, \"_\", \".\" and \"-\""))
)

/**
 * Fields of an entry of `platform.json` in addition to its name, in the order of the docs. The file's schema, drift,
 * plans, upserts, adoption, API records, both platforms' keys and the sandbox derive from this table.
 */
export const declaredFields = {
  buildpack: defineField({
    schema: BuildPack,
    label: "Buildpack",
    description: "Build pack: the way the platform builds it. Without it: `autopack`.",
    example: "composestack",
    fallback: "autopack",
    record: {
      key: "build_pack",
      kind: "text",
      usually: "composestack, autopack or imagefile",
      description: "The way the platform builds it"
    }
  }),
  port: defineField({
    schema: Port,
    label: hostPortKey,
    description: "The port of the host, as the variable `HOST_PORT`.",
    example: 2008,
    fallback: undefined,
    record: undefined
  }),
  domain: defineField({
    schema: Domain,
    label: "Domain (FQDN)",
    description: "Its domain, to which the proxy leads. Without it there is no route.",
    example: "hello.example.com",
    fallback: undefined,
    record: undefined
  }),
  server: defineField({
    schema: Schema.String,
    label: "Server",
    description: "The name of the platform's server. Without it: the platform's default.",
    example: "localhost",
    fallback: undefined,
    record: undefined
  }),
  repo: defineField({
    schema: RepositoryWord,
    label: "Git repository",
    description: "The name of the repository. Without it: the name of the project's directory.",
    example: "hello",
    fallback: undefined,
    record: {
      key: "git_repository",
      kind: "text",
      usually: "a string",
      description: "The address of its repository"
    }
  }),
  gitOwner: defineField({
    schema: RepositoryWord,
    label: "Git owner",
    description: "The owner of the repository. Without it: the setting `gitHost.owner`.",
    example: "ann",
    fallback: undefined,
    record: undefined
  }),
  branch: defineField({
    schema: Line,
    label: "Branch",
    description: "The branch. Without it: `master`.",
    example: "main",
    fallback: "master",
    record: { key: "git_branch", kind: "text", usually: "a string", description: "The branch that is built" }
  }),
  baseDirectory: defineField({
    schema: Line,
    label: "Base directory",
    description: "The directory in the repository. Without it: `/`.",
    example: "/",
    fallback: "/",
    record: {
      key: "base_directory",
      kind: "path",
      usually: "a string",
      description: "The directory of the repository that is built"
    }
  }),
  composeLocation: defineField({
    schema: Line,
    label: "Compose file",
    description: "The compose file in the repository, for `composestack`.",
    example: "/compose.yml",
    fallback: "/compose.yml",
    record: {
      key: "compose_location",
      coolify: "docker_compose_location",
      kind: "path",
      usually: "a string or null",
      description: "Where its compose file is, below the base directory",
      writtenFor: ["composestack"]
    }
  }),
  static: defineField({
    schema: Schema.Boolean,
    label: "Static site",
    description: "True when it is a static site. Without it: false.",
    example: false,
    fallback: false,
    record: {
      key: "is_static",
      kind: "flag",
      usually: "true or false",
      description: "True when it is a static site",
      absent: () => false,
      recordedFor: ["autopack", "imagefile"],
      comparedFor: ["autopack"]
    }
  }),
  publishDir: defineField({
    schema: Line,
    label: "Publish directory",
    description:
      "The directory that a static site is published from. Without it: `dist`, or `/` when it is not static.",
    example: "dist",
    fallback: (entry) => entry.static === true ? publishDefaults.site : publishDefaults.other,
    record: {
      key: "publish_directory",
      kind: "path",
      usually: "a string or null",
      description: "The directory of a static site's built files",
      absent: (entry) => entry.static === true ? undefined : publishDefaults.other,
      recordedFor: ["autopack", "imagefile"],
      comparedFor: ["autopack"],
      comparedIf: (entry) => entry.static === true
    }
  }),
  service: defineField({
    schema: Line,
    label: "Service",
    description: "The service of the compose file that the domain belongs to.",
    example: "web",
    fallback: undefined,
    record: undefined
  })
}

/** Default of the ports inside a container, for requests without them; entries never set them. */
export const exposedPorts = { key: "ports_exposes", label: "Exposed ports", value: "3000" } as const

/** Defaults of the publish directory, which differ by call. */
export const publishDefaults = {
  /** Static sites: creation, comparison and update. */
  site: "dist",
  /** Other applications: update. */
  other: "/",
  /** Static sites: the update after the creation. */
  followUp: "/dist"
} as const
