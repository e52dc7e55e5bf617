import type { IncomingMessage, Server, ServerResponse } from "node:http"

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Most requests that wait for the service to be ready. */
const mostHeld = 1_000

/**
 * Keeps the requests that come while nobody handles them yet: the port is open before the services are, and Node would
 * never answer a request that it finds no listener for. Answers what hands them, in their order, to who handles them now.
 */
export const holdRequests = (server: Server): (handle: Handler) => void => {
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
