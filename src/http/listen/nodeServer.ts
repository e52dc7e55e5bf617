import { createServer, type Server } from "node:http"
import type { Duplex } from "node:stream"

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
export const makeServer = (): Server => {
  // By default, Node rejects requests without Host, or with an unknown Expect.
  const server = createServer({ ...timeouts, requireHostHeader: false })
  server.on("checkExpectation", (request, response) => void server.emit("request", request, response))
  return server.on("clientError", refuseUnreadable)
}
