import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** The most requests that a connection may have in flight; more than one are there only with pipelining. */
export const maxInFlight = 64

type Handler = (request: IncomingMessage, response: ServerResponse) => void
type Listeners = ReturnType<ServerResponse["listeners"]>

/** What a connection has in flight: each response, with who listens for its end before anybody waits for it. */
interface InFlight {
  readonly responses: Map<ServerResponse, Listeners>
  refused: boolean
}

// Of the responses on a broken connection Node tells only the first, and those who wait for one to be written not even
// that: they would wait without end, and keep all that they hold.
const abandon = (response: ServerResponse, known: Listeners) => {
  if (!response.writableEnded) {
    response.emit("close")
    // Whoever answers later finds that this was answered.
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
 * Handles requests, at most `maxInFlight` of a connection at a time: one more is refused, and ends the connection after
 * the answers to those before it. A connection that breaks lets go of all that it has in flight.
 */
export const boundInFlight = (handle: Handler): Handler => {
  const connections = new WeakMap<Socket, InFlight>()
  const inFlightOn = (socket: Socket): InFlight => {
    const before = connections.get(socket)
    if (before !== undefined) return before
    const made: InFlight = { responses: new Map(), refused: false }
    connections.set(socket, made)
    socket.once("close", () => made.responses.forEach((known, response) => abandon(response, known)))
    return made
  }
  return (request, response) => {
    const inFlight = inFlightOn(request.socket)
    if (inFlight.refused) return
    if (inFlight.responses.size >= maxInFlight) {
      inFlight.refused = true
      return refuse(response)
    }
    response.once("finish", () => inFlight.responses.delete(response))
    inFlight.responses.set(response, response.listeners("finish"))
    handle(request, response)
  }
}
