import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { exchange } from "../../fixtures/network/exchange.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

/** Sends a request and breaks the connection off with a reset, before an answer or after its first bytes. */
const sendAndReset = (port: number, text: string, afterAnswer: boolean) =>
  Effect.async<void>((resume) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(text, () => {
        if (!afterAnswer) socket.resetAndDestroy()
      })
    })
    socket.on("data", () => socket.resetAndDestroy())
    socket.on("error", () => undefined).on("close", () => resume(Effect.void))
  })

describe("a request for an upgrade", () => {
  it.scopedLive("is answered as the plain request that it also is, after the guard", () =>
    Effect.gen(function*() {
      const { port } = yield* startService(yield* settingsFileWith("http:\n  token: open-sesame\n"))
      const head = `GET /api/session HTTP/1.1\r\nHost: localhost:${port}\r\n`
      expect((yield* exchange(port, `GET /api/session HTTP/1.1\r\nHost: evil.example\r\n${upgrade}`)).status).toBe(403)
      expect((yield* exchange(port, `${head}${upgrade}`)).status).toBe(401)
      const known = yield* exchange(port, `${head}Authorization: Bearer open-sesame\r\n${upgrade}`)
      expect(known.status).toBe(200)
      expect(JSON.parse(known.body)).toMatchObject({ role: "operator" })
    }))

  // An error of a socket that nobody listens for would end the process, and with it this run of the tests.
  it.scopedLive("that is reset harms nobody, whether the guard lets it pass or not", () =>
    Effect.gen(function*() {
      const { port, request } = yield* startService(yield* settingsFileWith(""))
      const hosts = [`localhost:${port}`, "evil.example"]
      for (const method of ["GET", "POST", "CONNECT"]) {
        yield* Effect.forEach(
          Array.from({ length: 60 }, (_, index) => index),
          (index) => {
            const sent = `${method} /api/health HTTP/1.1\r\nHost: ${hosts[index % 2]}\r\n${upgrade}`
            return sendAndReset(port, sent, index % 3 === 0)
          },
          { concurrency: 20 }
        )
      }
      expect((yield* request("GET", "/api/health")).status).toBe(200)
    }))
})
