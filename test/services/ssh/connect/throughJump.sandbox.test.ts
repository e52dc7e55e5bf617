import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FiberId, Scope } from "effect"
import ssh2 from "ssh2"
import { forward } from "../../../../src/services/ssh/connect.ts"
import { fakeSsh } from "../../../fixtures/network/fakeSsh.ts"
import { eventually } from "../live.ts"

/** A client that calls back at the moment in which a forwarded channel opens. */
class Watched extends ssh2.Client {
  afterOpening = () => {}
  override forwardOut(
    ...[fromHost, fromPort, toHost, toPort, tell]: Parameters<ssh2.Client["forwardOut"]>
  ): this {
    return super.forwardOut(fromHost, fromPort, toHost, toPort, (error, channel) => {
      tell?.(error, channel)
      this.afterOpening()
    })
  }
}

const connected = Effect.gen(function*() {
  const [gate, server] = [yield* fakeSsh(), yield* fakeSsh()]
  const { host, port, username } = gate.access
  const client = new Watched()
  client.on("error", () => undefined)
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => {
      client.on("ready", () => resume(Effect.void))
      client.connect({ host, port, username, password: "open sesame" })
    }),
    () => Effect.sync(() => client.end())
  )
  const lost = yield* Deferred.make<never, string>()
  return { client, server, to: server.access, jump: { name: "gate", connection: { client, lost } } }
})

describe("a channel through a jump host", () => {
  it.scopedLive("does not flow before somebody listens, and closes with its scope", () =>
    Effect.gen(function*() {
      const { jump, server, to } = yield* connected
      const scope = yield* Scope.make()
      const channel = yield* Scope.extend(forward(jump, to), scope)
      // The server behind greets at once.
      yield* Effect.sleep("50 millis")
      const greeting = yield* Effect.async<string>((resume) => {
        channel.once("data", (bytes: Buffer) => resume(Effect.succeed(bytes.toString("latin1"))))
        channel.resume()
      })
      expect(greeting).toMatch(/^SSH-2\.0-/)
      yield* Scope.close(scope, Exit.void)
      yield* eventually(server.open, (open) => open === 0)
    }))

  it.scopedLive("is closed where the caller is interrupted at the moment in which it opens, or later", () =>
    Effect.gen(function*() {
      const { client, jump, server, to } = yield* connected
      const caller = yield* Effect.fork(Effect.scoped(Effect.zipRight(forward(jump, to), Effect.never)))
      client.afterOpening = () => caller.unsafeInterruptAsFork(FiberId.none)
      yield* Fiber.await(caller)
      client.afterOpening = () => {}
      const early = yield* Effect.fork(Effect.scoped(Effect.zipRight(forward(jump, to), Effect.never)))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(early)
      yield* eventually(Effect.all([server.made, server.open]), ([made, open]) => made > 0 && open === 0)
    }))
})
