import { HttpApiClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Context, Data, Effect, Predicate, Schema } from "effect"
import { BerthApi } from "../http/api/BerthApi.ts"
import { Run } from "../schema/runs/Run.ts"
import { type BerthError, makeRefusal, makeUnexpectedAnswer, readAs, readRefusal, toBerthError } from "./BerthError.ts"

/** Options of an effect's requests: extra headers, and a listener for raw answers. */
export class Sending extends Context.Reference<Sending>()("berth/client/Sending", {
  defaultValue: (): {
    readonly headers: Readonly<Record<string, string>>
    readonly heard: (body: string) => Effect.Effect<void>
  } => ({ headers: {}, heard: () => Effect.void })
}) {}

/** The service started a run instead of answering; the answer follows later. */
export class Accepted extends Data.TaggedError("Accepted")<{ readonly run: Run }> {}

const decodeRun = Schema.decodeOption(Schema.parseJson(Run))

/** Reads an answer completely. Fails for an error status, and with `Accepted` for a run in place of its answer. */
const readAnswer = (where: string, request: HttpClientRequest.HttpClientRequest) =>
(
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, Accepted | BerthError> =>
  Effect.gen(function*() {
    if (response.status >= 400) return yield* readRefusal(where, response)
    const text = yield* Effect.mapError(response.text, toBerthError(where))
    const { heard } = yield* Sending
    yield* heard(text)
    if (response.status === 202) {
      const run = decodeRun(text)
      if (run._tag === "None") return yield* makeUnexpectedAnswer(where, `${where} answered a run that cannot be read`)
      return yield* new Accepted({ run: run.value })
    }
    const { headers, status } = response
    return HttpClientResponse.fromWeb(request, new Response(text === "" ? null : text, { status, headers }))
  })

const isSegment = (value: unknown) => Predicate.isString(value) && !["", ".", ".."].includes(value)

/** Percent-encodes path parameters, so that each stays one segment of the URL. */
const encodedPath = (request: unknown): Effect.Effect<unknown, BerthError> => {
  if (!Predicate.hasProperty(request, "path") || !Predicate.isRecord(request.path)) return Effect.succeed(request)
  const parts = Object.entries(request.path)
  const unfit = parts.find(([, value]) => !isSegment(value))
  if (unfit !== undefined) {
    const [name, value] = unfit
    const message = `${JSON.stringify(value)} cannot be the ${name} of anything: nothing was asked`
    return makeRefusal(400, message)
  }
  const path = Object.fromEntries(parts.map(([name, value]) => [name, encodeURIComponent(String(value))]))
  return Effect.succeed({ ...request, path })
}

const withEncodedPaths = <Client extends object>(client: Client): Client =>
  new Proxy(client, {
    get: (target, name, receiver) => {
      const endpoint: unknown = Reflect.get(target, name, receiver)
      return Predicate.isFunction(endpoint)
        ? (request: unknown) => Effect.flatMap(encodedPath(request), (encoded) => endpoint(encoded))
        : endpoint
    }
  })

/** Adds the headers of `Sending` to every request of a client. */
export const withSendingHeaders = <E, R>(client: HttpClient.HttpClient.With<E, R>): HttpClient.HttpClient.With<E, R> =>
  HttpClient.mapRequestEffect(
    client,
    (request) => Effect.map(Sending, ({ headers }) => HttpClientRequest.setHeaders(request, headers))
  )

/**
 * Creates a function for each endpoint of the contract.
 * @param where display name of the service, usually its address
 */
export const makeEndpoints = (client: HttpClient.HttpClient, where: string) =>
  Effect.map(
    HttpApiClient.makeWith(BerthApi, {
      transformResponse: readAs(where),
      httpClient: HttpClient.transform(
        withSendingHeaders(client),
        (answer, request) => Effect.flatMap(Effect.mapError(answer, toBerthError(where)), readAnswer(where, request))
      )
    }),
    withEncodedPaths
  )

/** Endpoints of the service as functions of their request. */
export type Endpoints = Effect.Effect.Success<ReturnType<typeof makeEndpoints>>
