import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope, Stream, TestClock } from "effect"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { Execs, ExecsLive } from "../../../src/services/exec.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"

const server: ServerAccess = {
  id: "1",
  name: "Main",
  host: "main.test",
  port: 22,
  username: "deploy",
  useSudo: false,
  credentials: {}
}
const command = (what: string) => ({ what, script: "", args: [], sudo: false })
const commands = (id: string) => ({ start: command(`start ${id}`), end: command(`end ${id}`) })

/** A server on which a command runs until it is told to exit; `asked` are the other commands. */
const stage = Effect.gen(function*() {
  const exit = yield* Deferred.make<number>()
  const asked: Array<string> = []
  const ssh = Layer.succeed(
    Ssh,
    Ssh.of({
      exec: (_, { what }) =>
        Effect.sync(() => {
          asked.push(what)
          return { code: 0, stdout: "", stderr: "" }
        }),
      spawn: () =>
        Effect.succeed({
          stdout: Stream.concat(
            Stream.make(new Uint8Array([1, 2])),
            Stream.drain(Stream.fromEffect(Deferred.await(exit)))
          ),
          stderr: Stream.empty,
          exit: Deferred.await(exit),
          resize: () => Effect.void
        })
    })
  )
  const execs = yield* Effect.provide(Execs, Layer.provide(ExecsLive, ssh))
  return { asked, execs, exit }
})

describe("commands in containers", () => {
  it.scoped("tell their output and their exit, and are over then", () =>
    Effect.gen(function*() {
      const { asked, execs, exit } = yield* stage
      const scope = yield* Scope.make()
      const { events, id } = yield* Scope.extend(execs.open("ann", server, commands), scope)
      const heard = yield* Effect.fork(Stream.runCollect(events))
      yield* Deferred.succeed(exit, 3)
      expect(Array.from(yield* Fiber.join(heard))).toEqual([
        { event: "output", data: { stream: "stdout", data: new Uint8Array([1, 2]) } },
        { event: "exit", data: { code: 3 } }
      ])
      yield* Scope.close(scope, Exit.void)
      expect(asked).toEqual([])
      expect(yield* Effect.flip(execs.end("ann", id))).toMatchObject({ status: 404 })
    }))

  it.scoped("are reached by their caller alone, and ended on the server when that leaves", () =>
    Effect.gen(function*() {
      const { asked, execs } = yield* stage
      const scope = yield* Scope.make()
      const { id } = yield* Scope.extend(execs.open("ann", server, commands), scope)
      expect(yield* Effect.flip(execs.end("bob", id))).toMatchObject({ status: 404 })
      const input = { data: new Uint8Array([1]), offset: 0 }
      expect(yield* Effect.flip(execs.send("bob", id, input))).toMatchObject({ status: 404 })
      expect(yield* execs.send("ann", id, input)).toEqual({ received: 1, ended: false })
      expect(asked).toEqual([])
      yield* Scope.close(scope, Exit.void)
      expect(asked).toEqual([`end ${id}`])
    }))

  it.scoped("end after twelve hours in which nothing is heard", () =>
    Effect.gen(function*() {
      const { execs } = yield* stage
      const { events } = yield* execs.open("ann", server, commands)
      const heard = yield* Effect.fork(Effect.flip(Stream.runDrain(events)))
      yield* TestClock.adjust("11 hours")
      expect(yield* Fiber.poll(heard)).toMatchObject({ _tag: "None" })
      yield* TestClock.adjust("1 hour")
      expect((yield* Fiber.join(heard)).message).toBe("The command was ended after 12 hours without input or output")
    }))
})
