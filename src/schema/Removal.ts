import { Schema } from "effect"
import { field, flag, number, text, texts } from "./described.ts"
import { strictBody } from "./strict.ts"

/** A route of the proxy file that belongs to an application. */
const OwnRoute = Schema.Struct({
  routeName: text("The name of the route.", "hello"),
  way: text("Where it leads.", "hello.example.com to http://192.0.2.20:2010")
}).annotations({ identifier: "OwnRoute" })

/** A webhook of a repository that delivers pushes for one application alone. */
const OwnHook = Schema.Struct({
  id: number("The webhook's id on the git host.", 1),
  repository: text("Its repository.", "ann/hello")
}).annotations({ identifier: "OwnHook" })

/** What goes when an application goes. */
export const Removal = Schema.Struct({
  uuid: text("The application's uuid on the platform.", "a1b2c3d4"),
  name: text("Its name.", "hello"),
  route: field(Schema.NullOr(OwnRoute), "Its route in the proxy file; null when it has none there."),
  hooks: field(Schema.Array(OwnHook), "Its webhooks; empty when it has none of its own."),
  stays: texts("What stays, or may stay, and why.", ["the webhook 1 of ann/hello: the application shop uses it too"])
}).annotations({ identifier: "Removal" })
export interface Removal extends Schema.Schema.Type<typeof Removal> {}

/** What to keep of an application that is removed. */
export const RemovalRequest = Schema.Struct({
  keepRoute: Schema.optional(Schema.Boolean).annotations({ description: "Whether its route stays in the proxy file." })
}).annotations({ identifier: "RemovalRequest", ...strictBody })
export interface RemovalRequest extends Schema.Schema.Type<typeof RemovalRequest> {}

/** What went of an application. */
export const Removed = Schema.Struct({
  ...Removal.fields,
  success: flag("Whether all of it went that was to go; the application itself did.")
}).annotations({ identifier: "Removed" })
export interface Removed extends Schema.Schema.Type<typeof Removed> {}
