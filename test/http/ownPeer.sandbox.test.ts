import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, request } from "node:http"
import { findOwner, formatTableEnd, isOwnPeer } from "../../src/http/ownPeer.ts"

describe("the table of connections", () => {
  it("writes an end as words in the order of the machine", () => {
    expect(formatTableEnd("127.0.0.1", 3100, "LE")).toBe("0100007F:0C1C")
    expect(formatTableEnd("127.0.0.1", 80, "BE")).toBe("7F000001:0050")
    expect(formatTableEnd("::1", 65_535, "LE")).toBe("00000000000000000000000001000000:FFFF")
    expect(formatTableEnd("2001:db8::8:1", 1, "LE")).toBe("B80D0120000000000000000001000800:0001")
  })

  it("tells the user of the socket with exactly these ends", () => {
    const table = [
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
      "   0: 0100007F:0C1C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1",
      "   1: 0100007F:D431 0100007F:0C1C 01 00000000:00000000 00:00000000 00000000  1000        0 2 1",
      "   2: 0100007F:0C1C 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 3 1"
    ].join("\n")
    expect(findOwner(table, "0100007F:D431", "0100007F:0C1C")).toEqual(Option.some(1000))
    expect(findOwner(table, "0100007F:D432", "0100007F:0C1C")).toEqual(Option.none())
    expect(findOwner(table, "0100007F:D431", "0100007F:0C1D")).toEqual(Option.none())
    expect(findOwner("", "a", "b")).toEqual(Option.none())
  })
})

/** A request that this process sends to itself, as its server sees it. */
const received = (host: string, address: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const server = createServer()
    yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
    server.listen(0, host)
    yield* Effect.promise(() => once(server, "listening"))
    const place = server.address()
    const arrived = Effect.async<IncomingMessage>((resume) => {
      server.on("request", (message) => resume(Effect.succeed(message)))
      const port = typeof place === "object" && place !== null ? place.port : 0
      request({ host: address, port, headers }).on("error", () => undefined).end()
    })
    return yield* arrived
  })

describe.skipIf(process.platform !== "linux")("a request", () => {
  it.scopedLive("of this user is known by its connection", () =>
    Effect.gen(function*() {
      expect(yield* isOwnPeer(yield* received("127.0.0.1", "127.0.0.1"))).toBe(true)
    }))

  it.scopedLive("through a proxy is nobody's", () =>
    Effect.gen(function*() {
      for (const name of ["forwarded", "via", "x-forwarded-for", "x-real-ip"]) {
        expect(yield* isOwnPeer(yield* received("127.0.0.1", "127.0.0.1", { [name]: "192.0.2.1" }))).toBe(false)
      }
    }))

  it.effect("over a connection that the table does not have, or from elsewhere, is nobody's", () =>
    Effect.gen(function*() {
      const ends = { localAddress: "127.0.0.1", localPort: 1, remoteAddress: "127.0.0.1", remotePort: 2 }
      expect(yield* isOwnPeer({ headers: {} })).toBe(false)
      expect(yield* isOwnPeer({ headers: {}, socket: ends })).toBe(false)
      expect(yield* isOwnPeer({ headers: {}, socket: { ...ends, remoteAddress: "192.0.2.1" } })).toBe(false)
      expect(yield* isOwnPeer({ headers: {}, socket: { ...ends, localAddress: undefined } })).toBe(false)
    }))
})
