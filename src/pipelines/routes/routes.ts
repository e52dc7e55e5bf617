import { Effect } from "effect"
import type { AddRouteResult, RemoveRouteResult, RouteNamed, RouteRequest } from "../../schema/routes/Route.ts"
import { bridgePorts } from "../../services/settings/bridgePorts.ts"
import { refuseIfBridged } from "./balancers.ts"
import { type EditFailure, editProxyFile, type EditServices } from "./editProxyFile.ts"
import * as edit from "./editRoutes.ts"
import { targetAddress } from "./proxyLocation.ts"
import type { RouteEdit } from "./RouteEdit.ts"

const warningOf = ({ warnings }: RouteEdit) => (warnings.length === 0 ? {} : { warning: warnings.join("; ") })

/** Adds a route to the configured target address. Fails with `RouteTaken` if the name has another target. */
export const addRoute = Effect.fn("Routes.add")(function*(
  request: RouteRequest
): Effect.fn.Return<AddRouteResult, EditFailure, EditServices> {
  const targetIp = yield* targetAddress
  const route = { ...request, targetIp }
  const add = refuseIfBridged(route, yield* bridgePorts)((text) => edit.insertRoute(text, route))
  const done = yield* editProxyFile(add)
  return done._tag === "Unchanged"
    ? { added: false, reason: "route_exists" }
    : { added: true, ...warningOf(done) }
})

/** Removes a route regardless of its target. */
export const removeRoute = Effect.fn("Routes.remove")(function*(
  { routeName }: RouteNamed
): Effect.fn.Return<RemoveRouteResult, EditFailure, EditServices> {
  const done = yield* editProxyFile((text) => edit.deleteRoute(text, routeName))
  return done._tag === "Unchanged"
    ? { removed: false, reason: "route_not_found" }
    : { removed: true, routeName, ...warningOf(done) }
})
