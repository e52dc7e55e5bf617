import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { nextPort } from "../../pipelines/ports/nextPort.ts"
import { portEvidence } from "../../pipelines/ports/portEvidence.ts"
import { addRoute, removeRoute } from "../../pipelines/routes/routes.ts"
import { routeInput, RouteNamed, RouteRequest } from "../../schema/Route.ts"
import { orApiError } from "../api/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

const readRoute = routeInput(RouteRequest)
const readName = routeInput(RouteNamed)

const isFilled = (value: unknown) => value !== undefined && value !== null && value !== ""

export const RoutesHandlers = HttpApiBuilder.group(BerthApi, "routes", (handlers) =>
  handlers
    .handle("nextPort", ({ urlParams }) => orApiError(urlParams.evidence === "true" ? portEvidence : nextPort))
    .handle("addRoute", ({ payload }) =>
      [payload.routeName, payload.domain, payload.port].every(isFilled)
        ? readRoute(payload).pipe(Effect.flatMap(addRoute), orApiError)
        : Effect.succeed({ error: "routeName, domain and port are required" }))
    .handle("removeRoute", ({ payload }) =>
      isFilled(payload.routeName)
        ? readName(payload).pipe(Effect.flatMap(removeRoute), orApiError)
        : Effect.succeed({ error: "routeName is required" })))
