import { Schema } from "effect"
import { field, flag, text } from "./described.ts"
import { Domain, RouteName } from "./Route.ts"
import { proxyPlace } from "./RouteList.ts"
import { Port } from "./Server.ts"
import { strictBody } from "./strict.ts"

const action = Schema.Literal("add", "remove").annotations({
  description: "Whether the route would be added or removed.",
  message: () => ({ message: "must be \"add\" or \"remove\"", override: true })
})

/** A change of the proxy file that somebody thinks about. */
export const RoutePlanRequest = Schema.Struct({
  action,
  routeName: field(RouteName, "The name of the route in the proxy file."),
  domain: Schema.optional(Domain).annotations({ description: "To add: a host name like app.example.com." }),
  port: Schema.optional(Port).annotations({ description: "To add: the port of the target address." })
}).annotations({ identifier: "RoutePlanRequest", ...strictBody })
export interface RoutePlanRequest extends Schema.Schema.Type<typeof RoutePlanRequest> {}

/** What adding or removing a route would make of the proxy file. */
export const RoutePlan = Schema.Struct({
  action,
  routeName: text("The name of the route.", "hello"),
  ...proxyPlace,
  changes: flag("Whether the file would be changed at all."),
  reason: Schema.optional(Schema.Literal("route_exists", "route_not_found")).annotations({
    description: "Why nothing would be changed: the same route is there already, or none of this name is."
  }),
  diff: text(
    "What would become of the file, as a unified diff with three lines around each change; empty where nothing would " +
      "be changed."
  ),
  added: Schema.Int.annotations({ description: "How many lines would be added." }),
  removed: Schema.Int.annotations({ description: "How many lines would be removed." }),
  warning: Schema.optional(Schema.String).annotations({
    description: "What would keep the proxy from working as it should; absent when nothing would."
  }),
  observedAt: text("When the file was read, in UTC.", "2026-01-02T03:04:05.678Z")
}).annotations({ identifier: "RoutePlan" })
export interface RoutePlan extends Schema.Schema.Type<typeof RoutePlan> {}
