import { FetchHttpClient, HttpClient, type HttpClientError, HttpClientRequest } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import { type Berth, type Door, make, nameOfThisProcess } from "../Berth.ts"

/** Base URL for requests within this process; they never reach the network. */
export const origin = "http://berth.invalid"

/** Handles a request like the service does. */
type RequestHandler = (request: Request) => Promise<Response>

/** Implements `fetch` with a handler. */
export const makeHandlerFetch =
  (handle: RequestHandler) => (...asked: ConstructorParameters<typeof Request>): Promise<Response> =>
    handle(new Request(...asked))

/** Times that a request goes to another process which has ended by then, and left what it did in the store. */
const mostOthers = 3

const isUnreached = (failure: HttpClientError.HttpClientError) =>
  failure._tag === "RequestError" && failure.reason === "Transport"

/**
 * Client of the service over handlers of this process, without a socket.
 * @param elsewhere finds, before each request, another process that must handle it
 */
export const overHandlers = (
  handle: RequestHandler,
  { door, elsewhere, outlives }: {
    readonly door: Door
    readonly outlives: Berth["Type"]["outlives"]
    readonly elsewhere: (
      request: HttpClientRequest.HttpClientRequest
    ) => Effect.Effect<Option.Option<HttpClient.HttpClient>>
  }
): Effect.Effect<Berth["Type"]> =>
  Effect.gen(function*() {
    const handling = Layer.succeed(FetchHttpClient.Fetch, makeHandlerFetch(handle))
    const http = yield* Effect.provide(HttpClient.HttpClient, Layer.provide(FetchHttpClient.layer, handling))
    return yield* make(
      http.pipe(
        HttpClient.mapRequest((request) =>
          request.pipe(HttpClientRequest.prependUrl(origin), HttpClientRequest.setHeader("berth-door", door))
        ),
        HttpClient.transform((answer, request) => {
          const handled = (left: number): typeof answer =>
            Effect.flatMap(
              elsewhere(request),
              Option.match({
                onNone: () => answer,
                onSome: ({ execute }) =>
                  execute(HttpClientRequest.setUrl(request, request.url.slice(origin.length))).pipe(
                    Effect.catchIf(
                      (failure) => left > 0 && request.method === "GET" && isUnreached(failure),
                      () => handled(left - 1)
                    )
                  )
              })
            )
          return handled(mostOthers)
        })
      ),
      { where: nameOfThisProcess, outlives }
    )
  })
