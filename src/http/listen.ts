import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Config, Effect, Layer, Option, Schedule, Schema } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { version } from "../schema/session.ts"
import { Settings } from "../services/settings/Settings.ts"
import { recordService } from "../services/state/discovery.ts"

/** URL of a listening service, for a browser. */
export const formatBaseUrl = (address: HttpServer.Address): string =>
  address._tag === "UnixAddress"
    ? address.path
    : `http://${address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname}:${address.port}`

/** Logs the URL of the service and its settings file. */
export const Announce = Layer.effectDiscard(Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const { file } = yield* Settings
  const url = formatBaseUrl(address)
  yield* Effect.logInfo(`Berth ${version} listens on ${url}. Reference: ${url}/reference. Settings: ${file}`)
}))

/** The service was started with an invalid option. */
export class NotStarted extends Schema.TaggedError<NotStarted>()("NotStarted", { reason: Schema.String }) {
  override get message() {
    return `Berth was not started: ${this.reason}`
  }
}

const highestPort = 65_535

const judged = (given: string) =>
  /^\d{1,5}$/.test(given) && Number(given) <= highestPort
    ? Effect.succeed(Number(given))
    : new NotStarted({
      reason: `BERTH_PORT must be a port from 0 to ${highestPort}, not ${JSON.stringify(given.slice(0, 40))}`
    })

/** Port from `BERTH_PORT`, if set; 0 picks a free one. */
export const configuredPort = Effect.gen(function*() {
  const given = yield* Config.option(Config.string("BERTH_PORT"))
  return Option.isNone(given) ? Option.none<number>() : Option.some(yield* judged(given.value.trim()))
})

/** Maximum number of requests in flight on a connection; more than one occurs only with pipelining. */
export const maxInFlight = 64

type Handler = (request: IncomingMessage, response: ServerResponse) => void
type Listeners = ReturnType<ServerResponse["listeners"]>

/**
 * In-flight state of a connection: the current response, and its "finish" listeners from before the handler added its
 * own.
 */
interface InFlight {
  underWay: readonly [response: ServerResponse, known: Listeners] | undefined
  readonly waiting: Array<readonly [request: IncomingMessage, response: ServerResponse]>
  refused: boolean
}

// Node does not notify waiters for a response that its connection broke: they would wait forever and retain memory.
const abandon = (response: ServerResponse, known: Listeners) => {
  if (!response.writableEnded) {
    response.emit("close")
    // Later responses on the connection must find this one ended.
    response.end()
  }
  const waiting = response.listeners("finish").filter((listener) => !known.includes(listener))
  response.removeAllListeners("finish")
  for (const listener of waiting) listener.call(response)
}

const refuse = (response: ServerResponse) => {
  const body = JSON.stringify({ error: `A connection may have at most ${maxInFlight} requests in flight` })
  response.writeHead(429, {
    "connection": "close",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin"
  })
  response.end(body)
}

/**
 * Handles the requests of a connection one at a time, so that a caller that does not read makes the service hold one
 * answer. Beyond `maxInFlight`, one is refused with 429 and the connection closes after the earlier answers; a broken
 * connection releases all.
 */
export const limitInFlight = (handle: Handler): Handler => {
  const connections = new WeakMap<Socket, InFlight>()
  const inFlightOn = (socket: Socket): InFlight => {
    const before = connections.get(socket)
    if (before !== undefined) return before
    const made: InFlight = { underWay: undefined, waiting: [], refused: false }
    connections.set(socket, made)
    socket.once("close", () => {
      made.waiting.length = 0
      if (made.underWay !== undefined) abandon(...made.underWay)
    })
    return made
  }
  const begin = (inFlight: InFlight, request: IncomingMessage, response: ServerResponse) => {
    // Node also emits "finish" for a broken connection, and destroys the socket right after.
    response.once("finish", () =>
      process.nextTick(() => {
        inFlight.underWay = undefined
        const next = request.socket.destroyed ? undefined : inFlight.waiting.shift()
        if (next !== undefined) begin(inFlight, ...next)
      }))
    inFlight.underWay = [response, response.listeners("finish")]
    handle(request, response)
  }
  return (request, response) => {
    const inFlight = inFlightOn(request.socket)
    if (inFlight.refused) return
    if (inFlight.underWay === undefined) return begin(inFlight, request, response)
    if (inFlight.waiting.length + 1 < maxInFlight) return void inFlight.waiting.push([request, response])
    inFlight.refused = true
    refuse(response)
  }
}

/** Timeouts for a request's headers and for the whole request, in milliseconds. Answers are not limited. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 }

const unreadable: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "The address or the headers of the request are too long"
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive in time"]
}

/** Answers malformed HTTP, which reaches no route, in the format of every other failure. */
const refuseUnreadable = (error: Error, socket: Duplex) => {
  if (!socket.writable) return
  const code = "code" in error ? String(error.code) : ""
  const [status, message] = unreadable[code] ?? ["400 Bad Request", "Malformed HTTP request"]
  const body = JSON.stringify({ error: message })
  const head = [
    `HTTP/1.1 ${status}`,
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "X-Content-Type-Options: nosniff",
    "Cache-Control: no-store",
    "Cross-Origin-Resource-Policy: same-origin"
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
  // Delays the disconnect: a caller that is disconnected while it sends would not receive the response.
  setTimeout(() => socket.destroy(), 1_000).unref()
}

/**
 * Creates a server that leaves every decision to the HTTP interface. Without an upgrade listener, Node serves an
 * upgrade request as a plain one and keeps supervising its socket.
 */
const makeServer = (): Server => {
  // By default, Node rejects requests without Host, or with an unknown Expect.
  const server = createServer({ ...timeouts, requireHostHeader: false })
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response))
  return server.on("clientError", refuseUnreadable)
}

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

  /** Adds where a service with the same settings runs, if one does. */
  beside(running: Option.Option<string>): CannotListen {
    return Option.match(running, {
      onNone: () => this,
      onSome: (address) =>
        new CannotListen({
          host: this.host,
          port: this.port,
          reason: `${this.reason}. A service with these settings runs already: ${address}`
        })
    })
  }
}

/** Address to listen on. Port 0 is any free one. */
interface ListenAddress {
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

/**
 * Refuses to listen on other interfaces without a token, because anyone on the network could run commands on the
 * servers.
 */
export class TokenRequired extends Schema.TaggedError<TokenRequired>()("TokenRequired", {
  host: Schema.String,
  file: Schema.String
}) {
  override get message() {
    return `Refusing to listen on ${this.host}, beyond this machine, without a token: set http.token in ${this.file}, ` +
      "or listen on 127.0.0.1"
  }
}

/** True for loopback names and addresses, which other machines cannot reach. */
export const isLoopback = (host: string): boolean =>
  ["localhost", "::1", "[::1]"].includes(host.toLowerCase()) || /^(::ffff:)?127(\.\d{1,3}){3}$/i.test(host)

/** Fails if other machines could reach the service without a token. */
export const requireToken = Effect.fn("requireToken")(function*(
  host: string
): Effect.fn.Return<void, TokenRequired, Settings> {
  const settings = yield* Settings
  const { token, tokens } = yield* settings.guard
  if (!isLoopback(host) && Option.isNone(token) && tokens.length === 0) {
    return yield* new TokenRequired({ host, file: settings.file })
  }
})

const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" }

/** URL of a service for programs on the same machine. */
export const formatLocalUrl = (address: HttpServer.Address): string =>
  formatBaseUrl(
    address._tag === "UnixAddress"
      ? address
      : { ...address, hostname: everywhere[address.hostname] ?? address.hostname }
  )

const recordWhileListening = (options?: { readonly command: boolean }) =>
  Layer.scopedDiscard(
    Effect.flatMap(HttpServer.HttpServer, ({ address }) => recordService(formatLocalUrl(address), options))
  )

/** Publishes the service's address to programs of the same user while it listens. */
export const RecordAddress = recordWhileListening()

/** Publishes a command's address to other commands of the same user, for questions about its runs. */
export const RecordCommandAddress = recordWhileListening({ command: true })
