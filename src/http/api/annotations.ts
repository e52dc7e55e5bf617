import { HttpApi, type HttpApiGroup, HttpApiMiddleware, OpenApi } from "@effect/platform"
import { Context, Data, Effect, Option, Predicate, Schema } from "effect"
import type { Role } from "../../schema/settings.ts"
import { strictBody, text } from "../../schema/validation.ts"

/** A failure as a caller sees it: a status, and one sentence. */
export class ApiError extends Data.TaggedError("ApiError")<{
  readonly status: number
  readonly message: string
  /** Extra response headers, such as `allow` for a 405 and `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
}> {}

/** The body of every failure. */
export const ErrorBody = Schema.Struct({
  error: Schema.String.annotations({ description: "Failure, its place, and a remedy." })
}).annotations({ identifier: "Error" })

/** `ApiError` on the wire. The status travels as the status of the response. */
export const ApiErrorFromBody = Schema.transform(ErrorBody, Schema.instanceOf(ApiError), {
  strict: true,
  decode: ({ error }) => new ApiError({ status: 500, message: error }),
  encode: ({ message }) => ({ error: message })
}).annotations({ identifier: "Error" })

/** Domain error with its own status and message. */
export interface StatusError {
  readonly status: number
  readonly message: string
  /** Seconds after which a retry is useful. */
  readonly retryAfter?: number
}

/** Answer with status 200 and an error: some endpoints have always reported a missing field or file like this. */
export const makeErrorBody = ({ message }: { readonly message: string }) => Effect.succeed({ error: message })

/** Converts the domain errors of a handler to the error that the contract declares. */
export const orApiError = <A, E extends StatusError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, ApiError, R> =>
  Effect.mapError(effect, ({ message, retryAfter, status }) =>
    new ApiError({
      status,
      message,
      ...retryAfter === undefined ? {} : { headers: { "retry-after": String(retryAfter) } }
    }))

/** Refuses unknown or repeated query parameters, and bodies of requests to endpoints that take none. */
export class KnownQuery extends HttpApiMiddleware.Tag<KnownQuery>()("berth/KnownQuery", {
  failure: ApiErrorFromBody
}) {}

/** Callers allowed on an endpoint: a minimum role, or everyone (on some endpoints only without query parameters). */
export type Access = "anyone" | "anyone without parameters" | Role

export class EndpointAccess extends Context.Tag("berth/EndpointAccess")<EndpointAccess, Access>() {}

/** Key in the description of the API for the role that an endpoint requires. */
export const accessKey = "x-berth-role"

const annotation = (access: Access) =>
  Context.make(EndpointAccess, access).pipe(Context.add(OpenApi.Override, { [accessKey]: access }))

/** Annotates an endpoint that requires no token. */
export const forAnyone = annotation("anyone")
/** Annotates an endpoint that requires no token without query parameters, and the role viewer with them. */
export const forAnyoneWithoutParameters = annotation("anyone without parameters")
/** Annotates a read-only endpoint. */
export const forViewers = annotation("viewer")
/** Annotates an endpoint that changes something, or runs a program on the machine of the service. */
export const forOperators = annotation("operator")

/** Required access of each endpoint by `POST /path`; none if not annotated. */
export const collectRequiredAccess = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyMap<string, Option.Option<Access>> => {
  const found = new Map<string, Option.Option<Access>>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { annotations, method, path } }) =>
      void found.set(`${method} ${path}`, Context.getOption(annotations, EndpointAccess))
  })
  return found
}

/** Access that an endpoint requires: that of an operator if it is not annotated. */
export const resolveRequiredAccess = (access: ReturnType<typeof collectRequiredAccess>, endpoint: string): Access =>
  Option.getOrElse(Option.flatten(Option.fromNullable(access.get(endpoint))), () => "operator")

/** Refuses callers whose role does not allow the endpoint. */
export class Allowed extends HttpApiMiddleware.Tag<Allowed>()("berth/Allowed", { failure: ApiErrorFromBody }) {}

/** Name of the session's cookie for pages on http. */
export const plainCookie = "berth_session"
/**
 * Cookie name for pages on https: browsers accept it only from the host itself, never from a sibling domain or over
 * http.
 */
export const hostCookie = "__Host-berth_session"

/** Body of the platform, passed through except for fields that the caller may not read. */
export const Relayed = Schema.Unknown.annotations({
  identifier: "Relayed",
  description:
    "The platform's own answer, with *** in place of what the caller may not read; null when it answered nothing.",
  jsonSchema: {}
})

const isObject = (value: unknown): value is { readonly [field: string]: unknown } =>
  Predicate.isRecord(value) && !Array.isArray(value)

/** Any JSON object, passed through: no key is dropped, renamed or reordered. */
export const JsonObject = Schema.declare(isObject, {
  identifier: "JsonObject",
  description: "Any JSON object.",
  message: () => ({ message: "must be a JSON object", override: true }),
  jsonSchema: { type: "object", additionalProperties: true },
  ...strictBody
})

/** Optional body: an absent one counts as an empty object. */
export const optionalBody = <A extends object, I extends object>(schema: Schema.Schema<A, I>, empty: A) =>
  Schema.transform(Schema.NullOr(schema), Schema.typeSchema(schema), {
    strict: true,
    decode: (body) => body ?? empty,
    encode: (body) => body
  }).annotations(strictBody)

/** The `{uuid}` of an application on the platform. */
export const UuidPath = Schema.Struct({ uuid: text("The application's uuid on the platform.", "a1b2c3d4") })

/** Marks an endpoint that executes its request as a run. */
export class StartsRun extends Context.Tag("berth/StartsRun")<StartsRun, true>() {}

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

/** A documented failure: its status and its condition. */
export type Reason = readonly [status: number, when: string]

export const query: Reason = [400, "A query parameter is unknown or does not fit."]
export const body: ReadonlyArray<Reason> = [
  [400, "The body is not JSON, or a field of it is unknown or does not fit."],
  [413, "The body is longer than 1 MB."],
  [415, "The body is not sent as application/json."]
]
const always: ReadonlyArray<Reason> = [
  query,
  [401, "The token is missing or wrong; without a token in the settings, the caller is not on this machine."],
  [403, "The host name or the origin of the request is not accepted."],
  [429, "The token is wrong, like too many that came from the same address."],
  [500, "The service failed in a way that was not foreseen: its log says more."]
]
/** Failures of an endpoint that takes no body, for methods that can have one. */
export const noBody: ReadonlyArray<Reason> = [
  [400, "A body with fields is sent, and the endpoint takes none."],
  [413, "The body is longer than 1 MB."],
  [415, "The body is not sent as application/json."]
]
export const settings: Reason = [500, "The settings cannot be used as they are."]
export const unknownServer: Reason = [404, "No stored server has this id or name."]
export const sameNames: Reason = [409, "Several stored servers have this name."]
export const planMoved: Reason = [409, "The plan no longer holds."]
export const unknownRelease: Reason = [404, "There is no such release."]
export const server: ReadonlyArray<Reason> = [
  settings,
  [400, "A path or name cannot be used on a server."],
  unknownServer,
  sameNames,
  [502, "The server cannot be reached, refuses the log-in or a command, or does not answer in time."]
]
export const outside: Reason = [
  403,
  "The path on this machine is not under the projects root, and the token may not leave that."
]
export const project: ReadonlyArray<Reason> = [
  settings,
  outside,
  [400, "The project's directory cannot be used."],
  [422, "A file of the project cannot be used as it is."],
  [500, "A file of this machine cannot be read or written."]
]
export const platform: ReadonlyArray<Reason> = [
  settings,
  [400, "The platform refuses the request, or a part of it cannot be sent on."],
  [404, "The platform does not know what was asked for."],
  [409, "The platform says that it conflicts with what is there."],
  [422, "The platform refuses a value."],
  [429, "The platform receives too many requests."],
  [502, "The platform refuses the token, fails or cannot be reached."],
  [504, "The platform does not answer in time."]
]
export const gitHost: Reason = [502, "The git host refuses, fails or cannot be reached."]
export const proxy: ReadonlyArray<Reason> = [
  [409, "Somebody else is editing the proxy file, or a redeploy has the requests of the route."],
  [500, "The proxy file does not have the shape that an edit needs; it was left as it is."],
  [502, "The proxy file cannot be read or written, or its server cannot be reached."]
]
export const store: Reason = [503, "The history of runs cannot be used now."]
export const run: ReadonlyArray<Reason> = [
  [409, "The run was cancelled, or another process works on the same."],
  [422, "The Idempotency-Key was used for another request within the last 24 hours."],
  [429, "As many runs wait or are under way as can be; `Retry-After` says when to ask again."],
  [503, "The service is stopping, or runs cannot be recorded now."]
]
export const watched: Reason = [
  429,
  "As many runs and logs are watched as can be; `Retry-After` says when to ask again."
]
export const oneRun: ReadonlyArray<Reason> = [[404, "No run has this id."], store]
export const busy: Reason = [409, "Another process works on the same."]

export const stack: ReadonlyArray<Reason> = [
  ...body,
  ...server,
  ...run,
  [404, "There is no stack in that directory, or it has no containers."],
  [502, "The server did not do it, or not all of it: the message says what runs now."]
]

export class EndpointFailures
  extends Context.Tag("berth/EndpointFailures")<EndpointFailures, ReadonlyArray<Reason>>()
{}

const isReason = (given: Reason | ReadonlyArray<Reason>): given is Reason => typeof given[0] === "number"

/** Annotates an endpoint with its failures, in addition to those of every endpoint. */
export const annotateFailures = (...reasons: ReadonlyArray<Reason | ReadonlyArray<Reason>>) =>
  Context.make(EndpointFailures, reasons.flatMap((given) => isReason(given) ? [given] : given))

/** Conditions of failures by status, ascending. */
export type Failures = ReadonlyArray<readonly [status: string, when: string]>

const byStatus = (own: ReadonlyArray<Reason>): Failures => {
  const reasons = new Map<number, Set<string>>()
  for (const [status, when] of [...always, ...own]) {
    reasons.set(status, (reasons.get(status) ?? new Set()).add(when))
  }
  return [...reasons].sort(([a], [b]) => a - b).map(([status, when]) => [String(status), [...when].join(" ")])
}

/** Failures of each endpoint by its name; omits endpoints without an annotation. */
export const collectFailures = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyMap<string, Failures> => {
  const found = new Map<string, Failures>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { annotations, name } }) => {
      const own = Context.getOption(annotations, EndpointFailures)
      if (Option.isSome(own)) found.set(name, byStatus(own.value))
    }
  })
  return found
}
