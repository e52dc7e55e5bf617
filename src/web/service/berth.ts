import { FetchHttpClient, HttpApiClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { BerthApi } from "../../http/api/BerthApi.ts"
import { Run } from "../../schema/Run.ts"
import { ServiceFailure, sessionEnded } from "./ServiceFailure.ts"
import { authorization } from "./token.ts"

const ErrorText = Schema.Struct({ error: Schema.String })

const failureOf = (status: number, text: string): ServiceFailure => {
  const body = Option.flatMap(
    Schema.decodeOption(Schema.parseJson(ErrorText))(text),
    ({ error }) => Option.some(error)
  )
  return new ServiceFailure(status, Option.getOrElse(body, () => `The service answered with status ${status}`))
}

/** The service as the contract describes it; a failure has the status and the words of the service. */
const makeClient = HttpApiClient.make(BerthApi, {
  baseUrl: location.origin,
  transformClient: (client) =>
    client.pipe(
      HttpClient.mapRequest(HttpClientRequest.setHeaders(authorization())),
      HttpClient.transformResponse(Effect.flatMap((response) =>
        response.status < 400
          ? Effect.succeed(response)
          : Effect.flatMap(response.text, (text) => Effect.die(failureOf(response.status, text)))
      )),
      HttpClient.withTracerPropagation(false)
    )
}).pipe(Effect.provide(FetchHttpClient.layer))

/** Every endpoint of the service as a function. */
export type Berth = Effect.Effect.Success<typeof makeClient>

const unanswered = "Berth does not answer. Is the service running?"

const asFailure = (cause: Cause.Cause<unknown>): ServiceFailure => {
  const failure = Cause.squash(cause)
  if (failure instanceof ServiceFailure) return failure
  const tag = typeof failure === "object" && failure !== null && "_tag" in failure ? failure._tag : undefined
  return tag === "RequestError"
    ? new ServiceFailure(0, unanswered)
    : new ServiceFailure(500, "The service answered something that this page does not understand: load it again")
}

/** Calls an endpoint; rejects with a `ServiceFailure`. */
export const call = async <A, E>(ask: (berth: Berth) => Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> => {
  const exit = await Effect.runPromiseExit(Effect.flatMap(makeClient, ask), signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  const failure = asFailure(exit.cause)
  if (failure.status === 401) sessionEnded()
  throw failure
}

/** Asks an address of the service; rejects with a `ServiceFailure`. */
export const send = async (path: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(path, { ...init, headers: { ...init.headers, ...authorization() } }).catch(() => {
    if (init.signal?.aborted === true) throw new DOMException("aborted", "AbortError")
    throw new ServiceFailure(0, unanswered)
  })
  if (response.ok) return response
  if (response.status === 401) sessionEnded()
  throw failureOf(response.status, await response.text())
}

/** Starts a run and does not wait for its end. */
export const startRun = async (path: string, payload: object): Promise<Run> => {
  const response = await send(path, {
    method: "POST",
    headers: { "content-type": "application/json", "prefer": "respond-async" },
    body: JSON.stringify(payload)
  })
  return Schema.decodeUnknownSync(Run)(await response.json())
}
