import { Schema } from "effect"

/** What was found out about one thing that the service depends on. */
export const Finding = Schema.Struct({
  /** `settings`, `platform`, `platform token`, `git host`, `proxy file`, `server Main` … */
  name: Schema.String,
  ok: Schema.Boolean,
  detail: Schema.String,
  fix: Schema.optional(Schema.String).annotations({
    description: "What to do about it, in one sentence; with every line that failed."
  }),
  latencyMs: Schema.optional(Schema.Number)
}).annotations({ identifier: "Finding" })
export interface Finding extends Schema.Schema.Type<typeof Finding> {}

/** How the service itself is doing, and when asked for more, what it depends on. */
export const Health = Schema.Struct({
  status: Schema.Literal("ok", "degraded").annotations({
    description: "degraded: a line of the dependencies failed. Without dependencies it is ok."
  }),
  version: Schema.String,
  uptimeSeconds: Schema.Number,
  dependencies: Schema.optional(Schema.Array(Finding))
}).annotations({ identifier: "Health" })
export interface Health extends Schema.Schema.Type<typeof Health> {}
