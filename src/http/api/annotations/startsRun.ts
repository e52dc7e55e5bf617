import { HttpApi, type HttpApiGroup, OpenApi } from "@effect/platform"
import { Context, Option, Predicate } from "effect"

/** Marks an endpoint that executes its request as a run. */
class StartsRun extends Context.Tag("berth/StartsRun")<StartsRun, true>() {}

const header = (name: string, description: string, maxLength: number) => ({
  name,
  in: "header",
  required: false,
  description,
  schema: { type: "string", maxLength }
})

const parameters = [
  header("Prefer", "respond-async: answers 202 with the run at once, and does not wait for its end.", 200),
  header(
    "Idempotency-Key",
    "The same key with the same body within 24 hours is the same run: its answer again, and no second execution.",
    200
  ),
  {
    name: "Berth-Door",
    in: "header",
    required: false,
    description: "Door that the request comes through; the run's `requestedBy` tells it. Left out, it is http.",
    schema: { type: "string", enum: ["cli", "mcp", "web", "script"] }
  }
]
const runHeader = { "Berth-Run": { description: "The id of the run.", schema: { type: "string" } } }
const record = (value: unknown) => (Predicate.isRecord(value) ? value : {})

const described = (operation: { [key: string]: unknown }): { [key: string]: unknown } => {
  const responses = record(operation["responses"])
  return {
    ...operation,
    parameters: [...Array.isArray(operation["parameters"]) ? operation["parameters"] : [], ...parameters],
    responses: {
      ...responses,
      200: { ...record(responses["200"]), headers: runHeader },
      202: {
        description: "The run has been started; `Location` is where to ask for it.",
        headers: runHeader,
        content: { "application/json": { schema: { $ref: "#/components/schemas/Run" } } }
      }
    }
  }
}

/** Annotates an endpoint that executes its request as a run, and documents the headers for that. */
export const startsRun = Context.make(StartsRun, true as const).pipe(Context.add(OpenApi.Transform, described))

/** The endpoints of a contract that start runs, as `POST /path`. */
export const listRunEndpoints = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlySet<string> => {
  const found = new Set<string>()
  HttpApi.reflect(api, {
    predicate: ({ endpoint }) => Option.isSome(Context.getOption(endpoint.annotations, StartsRun)),
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => void found.add(`${endpoint.method} ${endpoint.path}`)
  })
  return found
}
