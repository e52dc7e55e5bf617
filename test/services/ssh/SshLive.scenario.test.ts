import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Schedule, Stream } from "effect"
import type { Writable } from "node:stream"
import type { ServerChannel } from "ssh2"
import { spawnWatched, type WatchOptions } from "../../../src/services/ssh/SshLive.ts"
import { fakeSsh } from "../../fixtures/network/fakeSsh.ts"
import { command, liveSsh } from "./live.ts"

/** Writes for as long as somebody takes it. */
const endlessly = (to: Writable, chunk: Buffer): void => {
  if (to.destroyed || !to.writable) return
  if (to.write(chunk)) setImmediate(endlessly, to, chunk)
  else to.once("drain", () => endlessly(to, chunk))
}

/** A watched command of a server that behaves like this. */
const against = (exec: (channel: ServerChannel) => void, options: Partial<WatchOptions> = {}) =>
  Effect.gen(function*() {
    const server = yield* fakeSsh({ exec })
    return yield* spawnWatched(server.access, command("true"), { silence: "300 millis", ...options })
  })

const bytes = (text: string) => new TextEncoder().encode(text)

describe("a command that stays open", () => {
  it.scopedLive("hands over its lines, the end of stderr and its exit code", () =>
    Effect.gen(function*() {
      const { exit, lines, stderr } = yield* against((channel) => {
        channel.write("one\ntwo")
        channel.stderr.write("  said\n")
        channel.exit(3)
        channel.end()
      })
      expect([...yield* Stream.runCollect(lines)]).toEqual(["one", "two"])
      expect(yield* stderr).toBe("said")
      expect(yield* exit).toBe(3)
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive("is given up when it says nothing", () =>
    Effect.gen(function*() {
      const { exit, lines, stderr } = yield* against(() => undefined, {
        heartbeat: Stream.as(Stream.fromSchedule(Schedule.spaced("50 millis")), bytes("still here\n"))
      })
      const error = yield* Effect.flip(Stream.runHead(lines))
      expect(error._tag).toBe("RemoteSilent")
      expect(error.message).toMatch(
        /^"Main" \(127\.0\.0\.1:\d+\) said nothing for 0\.3 s while it was asked for testing: the command was ended$/
      )
      expect((yield* Effect.flip(stderr))._tag).toBe("RemoteSilent")
      expect((yield* Effect.flip(exit))._tag).toBe("RemoteSilent")
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive("lives as long as it writes, or takes its input", () =>
    Effect.gen(function*() {
      const speaking = yield* against((channel) => {
        for (let times = 1; times <= 8; times++) setTimeout(() => channel.stderr.write("."), times * 100)
        setTimeout(() => channel.write("done\n"), 900)
      })
      expect([...yield* Stream.runCollect(Stream.take(speaking.lines, 1))]).toEqual(["done"])
      const input = Stream.take(Stream.as(Stream.fromSchedule(Schedule.spaced("100 millis")), bytes("x")), 8)
      const taking = yield* against((channel) => {
        let taken = 0
        channel.on("data", (chunk: Buffer) => {
          taken += chunk.length
          if (taken === 8) channel.write("done\n")
        })
      }, { input })
      expect([...yield* Stream.runCollect(Stream.take(taking.lines, 1))]).toEqual(["done"])
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive("is given up when it talks without end, be it in one line or on stderr", () =>
    Effect.gen(function*() {
      const chunk = Buffer.alloc(32 * 1024, "x")
      for (
        const write of [
          (channel: ServerChannel) => endlessly(channel, chunk),
          (channel: ServerChannel) => endlessly(channel.stderr, chunk)
        ]
      ) {
        const { lines } = yield* against(write, { silence: "20 seconds" })
        const exit = yield* Effect.exit(Stream.runDrain(lines))
        expect(Exit.isFailure(exit) && exit.cause).toMatchObject({
          error: { _tag: "RemoteOutputTooLong", message: expect.stringContaining("wrote more than 16 MiB") }
        })
      }
    }).pipe(Effect.provide(liveSsh())))
})
