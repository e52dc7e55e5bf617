import { Schema } from "effect"
import { PlanHash } from "../basics/planHash.ts"
import { field, flag, number, text, texts } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"

/** A route of the proxy file that belongs to an application. */
const OwnRoute = Schema.Struct({
  routeName: text("The name of the route.", "hello"),
  way: text("Where it leads.", "hello.example.com to http://192.0.2.20:2010")
}).annotations({ identifier: "OwnRoute" })

/** Webhook of a repository that delivers pushes for a single application. */
const OwnHook = Schema.Struct({
  id: number("The webhook's id on the git host.", 1),
  repository: text("Its repository.", "ann/hello")
}).annotations({ identifier: "OwnHook" })

/** The parts of an application that go with it, or stay. */
const removalParts = {
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  name: text("Its name.", "hello"),
  live: flag("False if the platform no longer has it."),
  route: field(Schema.NullOr(OwnRoute), "Its route in the proxy file; null when it has none there."),
  hooks: field(Schema.Array(OwnHook), "Its webhooks; empty when it has none of its own."),
  stays: texts("What stays or may stay, and why.", [
    "the webhook 1 of ann/hello: the application shop uses it too"
  ])
}

/** Plan of a removal. */
export const Removal = Schema.Struct({
  planHash: Schema.String.annotations({ description: "Sent with a removal, it holds the removal to this plan." }),
  ...removalParts
}).annotations({ identifier: "Removal" })
export interface Removal extends Schema.Schema.Type<typeof Removal> {}

/** Request to remove an application. */
export const RemovalRequest = Schema.Struct({
  keepRoute: Schema.optional(Schema.Boolean).annotations({
    description: "True when its route stays in the proxy file."
  }),
  planHash: Schema.optional(Schema.NullOr(PlanHash)).annotations({
    description: "The planHash of a plan: where something has moved since, nothing is changed and the answer is a 409."
  })
}).annotations({ identifier: "RemovalRequest", ...strictBody })
export interface RemovalRequest extends Schema.Schema.Type<typeof RemovalRequest> {}

/** Result of a removal. */
export const Removed = Schema.Struct({
  ...removalParts,
  success: flag("True when all of it went that was to go; the application itself did.")
}).annotations({ identifier: "Removed" })
export interface Removed extends Schema.Schema.Type<typeof Removed> {}
