import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, Stream, TestClock, TestServices } from "effect"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { realSsh, startSshd } from "../../fixtures/network/openssh.ts"
import { liveSsh } from "./live.ts"

describe.skipIf(!realSsh.available)(realSsh.title("SftpLive where the server's disk hangs"), () => {
  it.scoped("gives a request up after a minute", () =>
    Effect.gen(function*() {
      const user = yield* TestServices.provideLive(Effect.flatMap(startSshd(), (sshd) => sshd.makeUser()))
      const session = yield* (yield* Sftp).session(user.access())
      // Opening a pipe that nobody writes to is such a hang.
      execFileSync("mkfifo", [join(user.home, "pipe")])
      const reading = yield* Effect.fork(Effect.flip(Stream.runDrain(session.read("~/pipe"))))
      // The home is asked for first: that is answered in real time.
      yield* TestServices.provideLive(Effect.sleep("500 millis"))
      yield* TestClock.adjust("55 seconds")
      expect(Option.isNone(yield* Fiber.poll(reading))).toBe(true)
      yield* TestClock.adjust("15 seconds")
      expect(yield* Fiber.join(reading)).toMatchObject({ _tag: "RemoteTimeout", what: "opening ~/pipe", seconds: 60 })
    }).pipe(Effect.provide(liveSsh())))
})
