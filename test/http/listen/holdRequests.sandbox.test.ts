import { HttpServer, HttpServerResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { connect } from "node:net"
import { listen } from "../../../src/http/listen.ts"
import { freePort } from "../../fixtures/network/freePort.ts"

const must = <A>(make: () => Promise<A>) => Effect.promise(make)

/** Asks as soon as the port is open, and answers what came back. */
const askAtOnce = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    socket.on("connect", () => socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    socket.on("data", (bytes) => text += String(bytes))
    socket.on("error", () => setTimeout(() => resolve(askAtOnce(port)), 2))
    socket.on("end", () => resolve(text))
  })

describe("a service that is starting", () => {
  it.scopedLive("answers the requests that come before it is ready, once it is", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const slow = Layer.scopedDiscard(Effect.sleep("300 millis"))
      const http = HttpServer.serve(HttpServerResponse.text("here"))
      const asked = Array.from({ length: 3 }, () => askAtOnce(port))
      yield* Layer.build(listen(http, slow, { host: "127.0.0.1", port }))
      for (const answer of yield* must(() => Promise.all(asked))) expect(answer).toMatch(/^HTTP\/1\.1 200 OK[^]*here$/)
    }), 20_000)
})
