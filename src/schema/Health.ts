import { Schema } from "effect"
import { version } from "./version.ts"
import { flag, number, text } from "./words/describedFields.ts"

/** Result of one check of a dependency. */
export const Finding = Schema.Struct({
  name: text("Subject of the check.", "settings", "platform", "git host", "proxy file", "server Main"),
  ok: flag("True when it is well."),
  detail: text("Finding."),
  fix: Schema.optional(Schema.String).annotations({
    description: "Remedy in one sentence; with every line that failed."
  }),
  setUp: Schema.optional(Schema.Boolean).annotations({
    description: "false of a line that failed because no setting names that part yet: the rest works without it."
  }),
  latencyMs: Schema.optional(Schema.Number).annotations({
    description: "Duration of the check, in milliseconds."
  })
}).annotations({ identifier: "Finding" })
export interface Finding extends Schema.Schema.Type<typeof Finding> {}

/** Name of the finding about the settings file itself. */
export const settingsFinding = "settings"
/** Name of the finding about the directory of the projects. */
export const projectsFinding = "projects"

/** Findings whose fix is shown even if they are not set up: a fresh installation starts with them. */
export const firstSteps: ReadonlySet<string> = new Set([settingsFinding, projectsFinding])

/** State of a finding; `unused` is an optional part without settings, which is not a failure. */
export const classifyFinding = ({ ok, setUp }: Finding): "well" | "failed" | "unused" =>
  ok ? "well" : setUp === false ? "unused" : "failed"

/** Health of the service, and of its dependencies when asked for. */
export const Health = Schema.Struct({
  status: Schema.Literal("ok", "degraded").annotations({
    description: "degraded: a line of the dependencies failed. Without dependencies it is ok."
  }),
  version: text("The version of the service.", version),
  uptimeSeconds: number("For how many seconds the service has been running.", 86_400),
  dependencies: Schema.optional(Schema.Array(Finding)).annotations({
    description: "A line for everything that the service depends on; only when asked for with deep=true."
  })
}).annotations({ identifier: "Health" })
export interface Health extends Schema.Schema.Type<typeof Health> {}
