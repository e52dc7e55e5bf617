import { Schema } from "effect"
import { flag, number, text } from "./described.ts"

/** What was found out about one thing that the service depends on. */
export const Finding = Schema.Struct({
  name: text("What was looked at.", "settings", "platform", "git host", "proxy file", "server Main"),
  ok: flag("Whether it is well."),
  detail: text("What was found."),
  fix: Schema.optional(Schema.String).annotations({
    description: "What to do about it, in one sentence; with every line that failed."
  }),
  setUp: Schema.optional(Schema.Boolean).annotations({
    description: "false of a line that failed because no setting names that part yet: the rest works without it."
  }),
  latencyMs: Schema.optional(Schema.Number).annotations({
    description: "How long it took to find out, in milliseconds."
  })
}).annotations({ identifier: "Finding" })
export interface Finding extends Schema.Schema.Type<typeof Finding> {}

/** How what was looked at stands: `unused` is what no setting names yet, which is no failure. */
export const standingOf = ({ ok, setUp }: Finding): "well" | "failed" | "unused" =>
  ok ? "well" : setUp === false ? "unused" : "failed"

/** How the service itself is doing, and when asked for more, what it depends on. */
export const Health = Schema.Struct({
  status: Schema.Literal("ok", "degraded").annotations({
    description: "degraded: a line of the dependencies failed. Without dependencies it is ok."
  }),
  version: text("The version of the service.", "2.0.0"),
  uptimeSeconds: number("For how many seconds the service has been running.", 86_400),
  dependencies: Schema.optional(Schema.Array(Finding)).annotations({
    description: "A line for everything that the service depends on; only when asked for with deep=true."
  })
}).annotations({ identifier: "Health" })
export interface Health extends Schema.Schema.Type<typeof Health> {}
