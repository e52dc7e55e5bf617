import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import type { Berth, Door } from "../Berth.ts"
import { make } from "../layer.ts"

/** Base of the addresses within this process. No request leaves it. */
export const origin = "http://berth.invalid"

/** Answers a request as the service does. */
export type RequestHandler = (request: Request) => Promise<Response>

/** Requests of an effect are answered by these handlers. */
export const makeHandlerFetch =
  (handle: RequestHandler) => (...asked: ConstructorParameters<typeof Request>): Promise<Response> =>
    handle(new Request(...asked))

/**
 * The service over handlers of this process, which requests reach without a socket.
 * @param elsewhere finds, before each request, another process that must answer it
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
        HttpClient.transform((answer, request) =>
          Effect.flatMap(
            elsewhere(request),
            Option.match({
              onNone: () => answer,
              onSome: ({ execute }) => execute(HttpClientRequest.setUrl(request, request.url.slice(origin.length)))
            })
          )
        )
      ),
      { where: "this process", outlives }
    )
  })
