import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

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
