import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import {
  NextPort,
  RouteAbsent,
  RouteAdded,
  RouteKept,
  RouteList,
  RoutePlan,
  RoutePlanRequest,
  RouteRemoved
} from "../../schema/routes.ts"
import { strictQuery } from "../../schema/validation.ts"
import * as failures from "./annotations.ts"
import { annotateFailures, ErrorBody, forOperators, forViewers, optionalBody } from "./annotations.ts"

const anything = Schema.optional(Schema.Unknown)
const routeName = {
  description: "The name of the route in the proxy file.",
  examples: ["hello"],
  type: "string",
  pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$",
  maxLength: 200
}
const domain = { type: "string", format: "hostname", description: "A host name like app.example.com." }
const port = {
  description: "The port of the target address that requests go to.",
  examples: [2004],
  type: "integer",
  minimum: 1,
  maximum: 65535
}

// The handler reports missing fields in a body of its own, so that the schema accepts any value.
const AddRoute = Schema.Struct({ routeName: anything, domain: anything, port: anything }).annotations({
  identifier: "RouteRequest",
  jsonSchema: { type: "object", required: ["routeName", "domain", "port"], properties: { routeName, domain, port } }
})
const RemoveRoute = Schema.Struct({ routeName: anything }).annotations({
  identifier: "RouteNamed",
  jsonSchema: { type: "object", required: ["routeName"], properties: { routeName } }
})
const nameTaken: failures.Reason = [409, "The name belongs to a route with another target."]

/** Ports, and the routes of the reverse proxy. */
export class RoutesApi extends HttpApiGroup.make("routes", { topLevel: true })
  .add(
    HttpApiEndpoint.get("nextPort", "/api/platform/next-port").annotateContext(forViewers)
      .annotateContext(
        annotateFailures(failures.platform, failures.proxy, [
          409,
          "A port in use is kept secret by the platform, or no port is left."
        ])
      )
      .setUrlParams(
        Schema.Struct({
          evidence: Schema.optional(Schema.Literal("true", "false")).annotations({
            description:
              "true: say what takes each port, and count what listens on the proxy's server and what other " +
              "projects' .env files name too."
          })
        }).annotations(strictQuery)
      )
      .addSuccess(NextPort)
      .annotate(OpenApi.Summary, "Next port")
      .annotate(
        OpenApi.Description,
        "The ports in use by applications and in the proxy file, and the one after the highest; 409 when the " +
          "platform keeps a port to itself. With evidence, the first one after those that nothing uses."
      )
  )
  .add(
    HttpApiEndpoint.get("listRoutes", "/api/platform/routes").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.proxy, failures.settings))
      .addSuccess(RouteList)
      .annotate(OpenApi.Summary, "List routes")
      .annotate(
        OpenApi.Description,
        "The routes of the proxy file, each with its domains, where it leads, whether Berth wrote it, and the " +
          "applications that declare its domain."
      )
  )
  .add(
    HttpApiEndpoint.post("planRoute", "/api/platform/routes/plan").annotateContext(forViewers)
      .annotateContext(annotateFailures(failures.body, failures.proxy, failures.settings, nameTaken))
      .setPayload(RoutePlanRequest)
      .addSuccess(RoutePlan)
      .annotate(OpenApi.Summary, "Plan a change of a route")
      .annotate(
        OpenApi.Description,
        "Plans a route to add or remove, as a diff of the proxy file. Changes nothing, and fails as the " +
          "change would."
      )
  )
  .add(
    HttpApiEndpoint.post("addRoute", "/api/platform/routes").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.proxy, failures.settings, nameTaken))
      .setPayload(optionalBody(AddRoute, {}))
      .addSuccess(Schema.Union(RouteAdded, RouteKept, ErrorBody))
      .annotate(OpenApi.Summary, "Add a route")
      .annotate(
        OpenApi.Description,
        "Makes the proxy send requests for a domain to a port of the target address; 409 when the name has another " +
          "target. A missing field is answered with 200 and an `error`."
      )
  )
  .add(
    HttpApiEndpoint.del("removeRoute", "/api/platform/routes").annotateContext(forOperators)
      .annotateContext(annotateFailures(failures.body, failures.proxy, failures.settings))
      .setPayload(optionalBody(RemoveRoute, {}))
      .addSuccess(Schema.Union(RouteRemoved, RouteAbsent, ErrorBody))
      .annotate(OpenApi.Summary, "Remove a route")
      .annotate(
        OpenApi.Description,
        "Removes a route from the proxy file. A missing field is answered with 200 and an `error`."
      )
  )
  .annotate(OpenApi.Title, "Routes and ports")
  .annotate(OpenApi.Description, "The routes of the reverse proxy, and the ports in use.")
{}
