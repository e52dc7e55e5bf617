import { Schema } from "effect"
import { text } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"
import { declaredFields, exposedPorts, publishDefaults } from "./declaredFields.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const textOr = (byDefault: string, description: string) =>
  optional(Schema.String).annotations({ description, default: byDefault })

/** An application to create on the platform. */
export const CreateApp = Schema.Struct({
  name: Schema.NonEmptyString.annotations({ description: "The name of the application.", examples: ["hello"] }),
  buildpack: optional(Schema.Literal("composestack", "autopack")).annotations({
    description: "Build pack; left out, the application is built as autopack.",
    default: "composestack"
  }),
  gitRepo: Schema.NonEmptyString.annotations({
    description: "The address of its repository, read with the deploy key of the settings.",
    examples: ["git@git.example.com:ann/hello.git"]
  }),
  gitBranch: textOr(declaredFields.branch.fallback, "The branch to build."),
  isStatic: optional(Schema.Boolean).annotations({ description: "True when it is a static site.", default: false }),
  publishDir: textOr(publishDefaults.site, "The directory of a static site's built files."),
  portsExposes: textOr(exposedPorts.value, "The ports inside the container, separated by commas."),
  baseDirectory: textOr(declaredFields.baseDirectory.fallback, "The directory of the repository that is built."),
  composeLocation: textOr(
    declaredFields.composeLocation.fallback,
    "Where its compose file is, below the base directory."
  ),
  serverUuid: optional(Schema.String).annotations({
    description: "The uuid of the platform's server to run it on; left out, that of platform.defaultServerUuid."
  })
}).annotations({ identifier: "CreatePlatformAppRequest", ...strictBody })
export interface CreateApp extends Schema.Schema.Type<typeof CreateApp> {}

/** An environment variable to create. */
export const CreateEnv = Schema.Struct({
  key: Schema.NonEmptyString.annotations({ description: "The name of the variable.", examples: ["TZ"] }),
  value: text("Its value.", "Europe/Vienna")
}).annotations({ identifier: "CreateEnvRequest", ...strictBody })
export interface CreateEnv extends Schema.Schema.Type<typeof CreateEnv> {}
