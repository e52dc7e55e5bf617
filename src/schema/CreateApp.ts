import { Schema } from "effect"
import { appDefaults, publishDefaults } from "./AppDefaults.ts"
import { strictBody } from "./strict.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const text = (byDefault: string) =>
  optional(Schema.String).annotations({ description: `Default: ${byDefault}.`, default: byDefault })

/** An application to create on the platform. */
export const CreateApp = Schema.Struct({
  name: Schema.NonEmptyString,
  buildpack: optional(Schema.Literal("composestack", "autopack")).annotations({
    description: "Left out, the application is built as autopack.",
    default: "composestack"
  }),
  gitRepo: Schema.NonEmptyString,
  gitBranch: text(appDefaults.branch),
  isStatic: optional(Schema.Boolean),
  publishDir: text(publishDefaults.site),
  portsExposes: text(appDefaults.portsExposes),
  baseDirectory: text(appDefaults.baseDirectory),
  composeLocation: text(appDefaults.composeLocation),
  serverUuid: optional(Schema.String).annotations({ description: "Default: the configured server." })
}).annotations({ identifier: "CreatePlatformAppRequest", ...strictBody })
export interface CreateApp extends Schema.Schema.Type<typeof CreateApp> {}

/** An environment variable to create. */
export const CreateEnv = Schema.Struct({
  key: Schema.NonEmptyString,
  value: Schema.String
}).annotations({ identifier: "CreateEnvRequest", ...strictBody })
export interface CreateEnv extends Schema.Schema.Type<typeof CreateEnv> {}
