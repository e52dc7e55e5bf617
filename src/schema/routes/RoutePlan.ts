import { Schema } from "effect"
import { Port } from "../servers/Server.ts"
import { field, flag, text } from "../words/describedFields.ts"
import { strictBody } from "../words/strict.ts"
import { Domain, RouteName } from "./Route.ts"
import { proxyPlace } from "./RouteList.ts"

const action = Schema.Literal("add", "remove").annotations({
  description: "Direction: the route would be added or removed.",
  message: () => ({ message: "must be \"add\" or \"remove\"", override: true })
})

/** Proposed change of the proxy file. */
export const RoutePlanRequest = Schema.Struct({
  action,
  routeName: field(RouteName, "The name of the route in the proxy file."),
  domain: Schema.optional(Domain).annotations({ description: "To add: a host name like app.example.com." }),
  port: Schema.optional(Port).annotations({ description: "To add: the port of the target address." })
}).annotations({ identifier: "RoutePlanRequest", ...strictBody })
export interface RoutePlanRequest extends Schema.Schema.Type<typeof RoutePlanRequest> {}

/** Change of the proxy file that adding or removing a route would make. */
export const RoutePlan = Schema.Struct({
  action,
  routeName: text("The name of the route.", "hello"),
  ...proxyPlace,
  changes: flag("True when the file would be changed at all."),
  reason: Schema.optional(Schema.Literal("route_exists", "route_not_found")).annotations({
    description: "Why nothing would be changed: the same route is there already, or none of this name is."
  }),
  diff: text(
    "Change of the file, as a unified diff with three lines around each change; empty where nothing would " +
      "be changed."
  ),
  added: Schema.Int.annotations({ description: "Number of lines that would be added." }),
  removed: Schema.Int.annotations({ description: "Number of lines that would be removed." }),
  warning: Schema.optional(Schema.String).annotations({
    description: "Problems that would keep the proxy from working; absent when there are none."
  }),
  observedAt: text("When the file was read, in UTC.", "2026-01-02T03:04:05.678Z")
}).annotations({ identifier: "RoutePlan" })
export interface RoutePlan extends Schema.Schema.Type<typeof RoutePlan> {}
