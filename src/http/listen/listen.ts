import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Schedule, Schema } from "effect"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { limitInFlight } from "./inFlight.ts"
import { makeServer } from "./nodeServer.ts"

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Maximum number of requests that wait for the service to be ready. */
const mostHeld = 1_000

/**
 * Queues requests until a handler exists: the port opens before the services are ready, and Node never answers requests
 * without a listener. Returns a function that passes the queued requests to the handler in order.
 */
const holdRequests = (server: Server): (handle: Handler) => void => {
  const held: Array<readonly [IncomingMessage, ServerResponse]> = []
  const hold: Handler = (request, response) => {
    if (held.length < mostHeld) held.push([request, response])
    else response.destroy()
  }
  server.on("request", hold)
  return (handle) => {
    server.off("request", hold)
    for (const [request, response] of held.splice(0)) if (!request.destroyed) handle(request, response)
  }
}

/** The service cannot listen on the configured address. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  host: Schema.String,
  port: Schema.Number,
  reason: Schema.String
}) {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port}: ${this.reason}`
  }
}

/** Address to listen on. Port 0 is any free one. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

const reasonOf = (cause: unknown): string => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  if (code === "EADDRINUSE") return "the port is in use. Set BERTH_PORT to another one, or stop what uses it"
  if (code === "EACCES") return "not permitted. Set BERTH_PORT to one above 1023"
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return "this machine has no such address. Set BERTH_HOST"
  return cause instanceof Error ? cause.message : String(cause)
}

const listening = (server: Server, { host, port }: ListenAddress): Effect.Effect<void, CannotListen> =>
  Effect.async((resume) => {
    const fail = (cause: Error) => resume(new CannotListen({ host, port, reason: reasonOf(cause) }))
    server.once("error", fail)
    server.listen({ host, port }, () => {
      server.off("error", fail)
      resume(Effect.void)
    })
  })

const addressOf = (server: Server): HttpServer.Address => {
  const address = server.address()
  if (address === null || typeof address === "string") return { _tag: "UnixAddress", path: address ?? "" }
  const { address: hostname, port } = address
  return { _tag: "TcpAddress", hostname: hostname === "::" ? "0.0.0.0" : hostname, port }
}

// The server of @effect/platform also listens for upgrades, and Node stops supervising such sockets before the guard
// runs.
const httpServer = (server: Server, address: ListenAddress): Effect.Effect<HttpServer.HttpServer, CannotListen> =>
  Effect.gen(function*() {
    const release = holdRequests(server)
    yield* listening(server, address)
    return HttpServer.make({
      address: addressOf(server),
      serve: (app, middleware) =>
        Effect.gen(function*() {
          const handle = limitInFlight(
            yield* middleware === undefined
              ? NodeHttpServer.makeHandler(app)
              : NodeHttpServer.makeHandler(app, middleware)
          )
          yield* Effect.acquireRelease(
            Effect.sync(() => {
              server.on("request", handle)
              release(handle)
            }),
            () => Effect.sync(() => server.off("request", handle))
          )
        })
    })
  })

/** Services that the server provides to the HTTP interface. */
type ServerContext = Layer.Layer.Success<ReturnType<typeof NodeHttpServer.layer>>

const connections = (server: Server) =>
  Effect.async<number>((resume) => {
    server.getConnections((_, count) => resume(Effect.succeed(count)))
  })

/** Gives answers in progress up to three seconds to complete, then closes all connections. */
const lastAnswers = (server: Server) =>
  Effect.sync(() => {
    if (server.listening) server.close()
    server.closeIdleConnections()
  }).pipe(
    Effect.zipRight(connections(server)),
    Effect.repeat({
      until: (open) => open === 0,
      schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo("3 seconds"))
    }),
    Effect.ensuring(Effect.sync(() => server.closeAllConnections()))
  )

/**
 * Runs an HTTP interface at an address. Shutdown stops listening, then closes the services, whose runs get a grace
 * period, and then completes the last answers.
 */
export const listen = <E, R, E2>(
  http: Layer.Layer<never, E, R | ServerContext>,
  services: Layer.Layer<R, E2>,
  address: ListenAddress
): Layer.Layer<ServerContext, E | E2 | CannotListen> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const server = yield* Effect.acquireRelease(Effect.sync(makeServer), lastAnswers)
    const stopListening = Layer.scopedDiscard(Effect.addFinalizer(() => Effect.sync(() => server.close())))
    const bound = Layer.effect(HttpServer.HttpServer, httpServer(server, address))
    const context = Layer.merge(bound, NodeHttpServer.layerContext)
    return Layer.mergeAll(http, stopListening).pipe(Layer.provide(services), Layer.provideMerge(context))
  }))
