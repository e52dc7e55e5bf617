import { Schema } from "effect"
import { annotateMessage, Filled } from "./decodeRequestBody.ts"

/** Body of a request that creates a hook. */
export const NewHook = Schema.Struct({
  type: Filled,
  active: Schema.optional(Schema.Boolean),
  events: Schema.optional(Schema.Array(Schema.String)),
  branch_filter: Schema.optional(Schema.String),
  config: Schema.Struct({
    url: Schema.String.pipe(Schema.filter((text) => URL.canParse(text), annotateMessage("Invalid URL."))),
    content_type: Schema.Literal("json", "form").annotations(annotateMessage("Invalid content type.")),
    secret: Schema.optional(Schema.String)
  })
})
export interface NewHook extends Schema.Schema.Type<typeof NewHook> {}

/** Update of a hook. */
export const HookChanges = Schema.Struct({
  active: NewHook.fields.active,
  events: NewHook.fields.events,
  branch_filter: NewHook.fields.branch_filter,
  config: Schema.optional(Schema.partial(NewHook.fields.config))
})
export interface HookChanges extends Schema.Schema.Type<typeof HookChanges> {}
