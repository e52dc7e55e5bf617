import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import type { Berth, Door } from "../Berth.ts"
import { make } from "../layer.ts"

/** What an address of this process begins with. No request leaves it: this only makes an address of each path. */
export const origin = "http://berth.invalid"

/** Answers a request as the service does. */
export type Handle = (request: Request) => Promise<Response>

/** Requests of an effect are answered by these handlers. */
export const answeredBy = (handle: Handle) => (...asked: ConstructorParameters<typeof Request>): Promise<Response> =>
  handle(new Request(...asked))

/**
 * The service over handlers of this process, which requests reach without a socket.
 * @param outlives whether its runs go on when whoever asks has ended
 * @param elsewhere looks, before each request, for another process that has to answer it
 */
export const overHandlers = (
  handle: Handle,
  { door, elsewhere, outlives }: {
    readonly door: Door
    readonly outlives: boolean
    readonly elsewhere: (
      request: HttpClientRequest.HttpClientRequest
    ) => Effect.Effect<Option.Option<HttpClient.HttpClient>>
  }
): Effect.Effect<Berth["Type"]> =>
  Effect.gen(function*() {
    const handling = Layer.succeed(FetchHttpClient.Fetch, answeredBy(handle))
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
