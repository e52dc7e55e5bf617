import { describe, expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { connect } from "node:net"
import { limitInFlight, maxInFlight } from "../../../src/http/listen.ts"
import { liveHeap } from "../../fixtures/programs/heap.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

/** A server on a free port; it is gone with the scope. */
const serving = (handle: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer(limitInFlight(handle))
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ port, close: () => void server.close().closeAllConnections() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const requests = (count: number) => "GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(count)

/** Sends a text, and answers everything that comes back until the other end closes. */
const untilClosed = (port: number, text: string) =>
  Effect.async<string>((resume) => {
    let received = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(text))
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
    })
    socket.on("error", () => undefined).on("close", () => resume(Effect.succeed(received)))
  })

/** Sends a text and resets the connection once it is on its way. */
const sendAndReset = (port: number, text: string) =>
  Effect.async<void>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text, () => socket.resetAndDestroy()))
    socket.on("error", () => undefined).on("close", () => resume(Effect.void))
  })

const eventually = (holds: () => void) =>
  Effect.retry(Effect.sandbox(Effect.sync(holds)), { schedule: Schedule.spaced("20 millis"), times: 200 })

describe("boundInFlight", () => {
  it.scopedLive("answers as many pipelined requests as may be in flight, and refuses one more", () =>
    Effect.gen(function*() {
      let handled = 0
      const { port } = yield* serving((_, response) => {
        handled += 1
        setTimeout(() => response.end("done"), 5)
      })
      const received = yield* untilClosed(port, requests(maxInFlight + 100))
      const statuses = Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status))
      expect(statuses).toEqual([...Array.from({ length: maxInFlight }, () => 200), 429])
      expect(received).toContain(`{"error":"A connection may have at most ${maxInFlight} requests in flight"}`)
      expect(handled).toBe(maxInFlight)
    }))

  it.scopedLive("takes any number of requests one after the other", () =>
    Effect.gen(function*() {
      const { port } = yield* serving((_, response) => void response.end("done"))
      const count = yield* Effect.async<number>((resume) => {
        let answers = 0
        const socket = connect(port, "127.0.0.1", () => socket.write(requests(1)))
        socket.on("data", () => {
          answers += 1
          if (answers === 3 * maxInFlight) {
            socket.destroy()
            resume(Effect.succeed(answers))
          } else socket.write(requests(1))
        })
      })
      expect(count).toBe(3 * maxInFlight)
    }))

  it.scopedLive("begins with a request when the answer before it is written, in the order in which they came", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const { port } = yield* serving(({ url = "" }, response) => {
        order.push(`begins ${url}`)
        setTimeout(() => {
          order.push(`ends ${url}`)
          response.end("done")
        }, 10)
      })
      const names = Array.from({ length: 5 }, (_, index) => `/${index}`)
      const asked = names.map((name) => `GET ${name} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join("")
      yield* untilClosed(port, `${asked}GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      expect(order).toEqual([...names, "/last"].flatMap((name) => [`begins ${name}`, `ends ${name}`]))
    }))

  it.scopedLive("holds one answer for a caller that reads none", () =>
    Effect.gen(function*() {
      let handled = 0
      const { port } = yield* serving((_, response) => {
        handled += 1
        response.end(Buffer.alloc(16_000_000))
      })
      const socket = connect(port, "127.0.0.1", () => socket.write(requests(10)))
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
      socket.pause()
      yield* eventually(() => expect(handled).toBe(1))
      yield* Effect.sleep("200 millis")
      expect(handled).toBe(1)
    }))

  it.scopedLive("tells the response of a broken connection, and whoever waits until it is written", () =>
    Effect.gen(function*() {
      for (const isAnswered of [true, false]) {
        const told: Array<string> = []
        let underWay: ServerResponse | undefined
        const { port } = yield* serving((_, response) => {
          underWay = response
          told.push("begun")
          if (isAnswered) response.end(Buffer.alloc(16_000_000), () => told.push("written"))
          else response.once("close", () => told.push("closed"))
        })
        yield* Effect.async<void>((resume) => {
          const socket = connect(port, "127.0.0.1", () => socket.write(requests(10)))
          socket.pause()
          const poll = setInterval(() => {
            if (told.length === 0) return
            clearInterval(poll)
            socket.on("close", () => resume(Effect.void)).resetAndDestroy()
          }, 10)
        })
        yield* eventually(() => expect(told).toEqual(["begun", isAnswered ? "written" : "closed"]))
        // A late response does not wait either: the library checks this flag.
        expect(underWay?.writableEnded).toBe(true)
      }
    }))
})

describe("pipelined requests on a connection that is reset", () => {
  it.scopedLive("leave nothing behind", () =>
    Effect.gen(function*() {
      const { port, request } = yield* startService(yield* settingsFileWith(""))
      const burst = Effect.forEach(
        Array.from({ length: 20 }),
        () => sendAndReset(port, requests(50)),
        { concurrency: 20, discard: true }
      )
      yield* burst
      yield* request("GET", "/api/health")
      const before = yield* liveHeap
      yield* burst
      expect((yield* request("GET", "/api/health")).status).toBe(200)
      yield* Effect.retry(
        Effect.sandbox(Effect.map(liveHeap, (now) => expect(now - before).toBeLessThan(4_000_000))),
        { schedule: Schedule.spaced("200 millis"), times: 20 }
      )
    }))
})
