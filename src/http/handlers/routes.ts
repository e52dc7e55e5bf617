import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { nextPort } from "../../pipelines/ports/nextPort.ts"
import { portEvidence } from "../../pipelines/ports/portEvidence.ts"
import { listRoutes } from "../../pipelines/routes/listRoutes.ts"
import { planRoute } from "../../pipelines/routes/planRoute.ts"
import { addRoute, removeRoute } from "../../pipelines/routes/routes.ts"
import { makeCompleteRouteDecoder } from "../../schema/routes/givenRoute.ts"
import { RouteNamed, RouteRequest } from "../../schema/routes/Route.ts"
import { makeErrorBody, orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

const readRoute = makeCompleteRouteDecoder(RouteRequest)
const readName = makeCompleteRouteDecoder(RouteNamed)

export const RoutesHandlers = HttpApiBuilder.group(BerthApi, "routes", (handlers) =>
  handlers
    .handle("nextPort", ({ urlParams }) => orApiError(urlParams.evidence === "true" ? portEvidence : nextPort))
    .handle("listRoutes", () => orApiError(listRoutes))
    .handle("planRoute", ({ payload }) => orApiError(planRoute(payload)))
    .handle("addRoute", ({ payload }) =>
      readRoute(payload).pipe(
        Effect.flatMap(addRoute),
        Effect.catchTag("RouteFieldsMissing", makeErrorBody),
        orApiError
      ))
    .handle("removeRoute", ({ payload }) =>
      readName(payload).pipe(
        Effect.flatMap(removeRoute),
        Effect.catchTag("RouteFieldsMissing", makeErrorBody),
        orApiError
      )))
