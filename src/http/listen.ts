import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Schedule, Schema } from "effect"
import { createServer, type Server } from "node:http"
import type { Duplex } from "node:stream"

/** The service cannot listen where it was told to. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  host: Schema.String,
  port: Schema.Number,
  reason: Schema.String
}) {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port}: ${this.reason}`
  }
}

/** Where to listen. Port 0 is any free one. */
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

/** Time for a caller to send its headers, and its whole request. Answers may take as long as they take. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 }

const unreadable: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "The address or the headers of the request are too long"
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive in time"]
}

/** Answers what is no HTTP request, which no route ever sees, in the words of every other failure. */
const refuseUnreadable = (error: Error, socket: Duplex) => {
  if (!socket.writable) return
  const code = "code" in error ? String(error.code) : ""
  const [status, message] = unreadable[code] ?? ["400 Bad Request", "This is no HTTP request"]
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
  // A caller that is cut off while it still sends does not get to see why.
  setTimeout(() => socket.destroy(), 1_000).unref()
}

/** A server that leaves the judgement of every request to the interface that it runs. */
const makeServer = () => {
  // By itself Node would turn down a request without a Host, or with an Expect that it does not know.
  const server = createServer({ ...timeouts, requireHostHeader: false })
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response))
  return server.on("clientError", refuseUnreadable)
}

/** What an HTTP interface gets from the server that it runs on. */
type ServerContext = Layer.Layer.Success<ReturnType<typeof NodeHttpServer.layer>>

const connections = (server: Server) =>
  Effect.async<number>((resume) => {
    server.getConnections((_, count) => resume(Effect.succeed(count)))
  })

/** Lets answers that are being written go out, for a little while. */
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
 * Runs an HTTP interface at an address, with the services that it needs. Shutting down first stops listening, then
 * ends the services, whose runs get their time to finish, and then lets the last answers go out.
 */
export const listen = <E, R, E2>(
  http: Layer.Layer<never, E, R | ServerContext>,
  services: Layer.Layer<R, E2>,
  { host, port }: ListenAddress
): Layer.Layer<ServerContext, E | E2 | CannotListen> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const server = yield* Effect.acquireRelease(Effect.sync(makeServer), lastAnswers)
    const stopListening = Layer.scopedDiscard(Effect.addFinalizer(() => Effect.sync(() => server.close())))
    const address = NodeHttpServer.layer(() => server, { host, port }).pipe(
      Layer.catchAll(({ cause }) => Layer.fail(new CannotListen({ host, port, reason: reasonOf(cause) })))
    )
    return Layer.mergeAll(http, stopListening).pipe(Layer.provide(services), Layer.provideMerge(address))
  }))
