import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock, TestServices } from "effect"
import { once } from "node:events"
import { createServer } from "node:net"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { fakeSsh } from "../../fixtures/network/fakeSsh.ts"
import { command, eventually, liveSsh } from "./live.ts"

const becomes = (what: Effect.Effect<number>, number: number) =>
  TestServices.provideLive(eventually(what, (value) => value === number))

describe("the connection of a server", () => {
  it.scoped("closes after five idle minutes, and the next command makes another", () =>
    Effect.gen(function*() {
      const server = yield* fakeSsh()
      const { exec } = yield* Ssh
      yield* exec(server.access, command("true"))
      yield* TestClock.adjust("299 seconds")
      expect(yield* server.open).toBe(1)
      yield* exec(server.access, command("true"))
      yield* TestClock.adjust("299 seconds")
      expect([yield* server.open, yield* server.made]).toEqual([1, 1])
      yield* TestClock.adjust("2 seconds")
      yield* becomes(server.open, 0)
      yield* exec(server.access, command("true"))
      expect(yield* server.made).toBe(2)
    }).pipe(Effect.provide(liveSsh())))

  it.scoped("that could not be made is tried anew by the next caller, though nobody waited for the failure", () =>
    Effect.gen(function*() {
      let met = 0
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => createServer(() => met++).listen(0, "127.0.0.1")),
        (server) => Effect.sync(() => server.close())
      )
      yield* TestServices.provideLive(Effect.promise(() => once(server, "listening")))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 1
      const { access } = yield* fakeSsh()
      const { exec } = yield* Ssh
      const silent = { ...access, port }
      const left = yield* Effect.fork(exec(silent, command("true")))
      yield* becomes(Effect.sync(() => met), 1)
      yield* Fiber.interrupt(left)
      yield* TestClock.adjust("16 seconds")
      const next = yield* Effect.fork(Effect.flip(exec(silent, command("true"))))
      yield* becomes(Effect.sync(() => met), 2)
      yield* TestClock.adjust("16 seconds")
      expect((yield* Fiber.join(next))._tag).toBe("ServerUnreachable")
    }).pipe(Effect.provide(liveSsh())))

  it.scoped("through a jump host keeps that one's open, which closes a minute after its last use", () =>
    Effect.gen(function*() {
      const [gate, server] = [yield* fakeSsh(), yield* fakeSsh()]
      const { exec } = yield* Ssh
      const behind = { ...server.access, via: gate.access }
      yield* exec(behind, command("true"))
      yield* TestClock.adjust("290 seconds")
      expect([yield* gate.open, yield* server.open]).toEqual([1, 1])
      yield* TestClock.adjust("11 seconds")
      yield* becomes(server.open, 0)
      yield* TestClock.adjust("55 seconds")
      expect(yield* gate.open).toBe(1)
      yield* exec(behind, command("true"))
      expect([yield* gate.made, yield* server.made]).toEqual([1, 2])
      yield* TestClock.adjust("301 seconds")
      yield* becomes(server.open, 0)
      yield* TestClock.adjust("61 seconds")
      yield* becomes(gate.open, 0)
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive("is another one for another password", () =>
    Effect.gen(function*() {
      const server = yield* fakeSsh()
      const { exec } = yield* Ssh
      yield* exec(server.access, command("true"))
      yield* exec({ ...server.access, name: "The same by another name" }, command("true"))
      expect(yield* server.made).toBe(1)
      yield* exec({ ...server.access, credentials: {} }, command("true"))
      expect(yield* server.made).toBe(2)
    }).pipe(Effect.provide(liveSsh())))
})
