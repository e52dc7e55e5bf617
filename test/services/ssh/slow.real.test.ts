import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { realSsh, RealSshd } from "../../fixtures/network/openssh.ts"
import type { SshUser } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { slow } from "../../fixtures/thorough.ts"
import { command, liveSsh } from "./live.ts"

const wanted = slow
const title = wanted
  ? realSsh.title("a server that stops answering")
  : "a server that stops answering (BERTH_SLOW_TESTS=1)"

const freeze = (user: SshUser) => execFileSync("pkill", ["-STOP", "-u", user.name, "-x", "sshd"])

describe.skipIf(!realSsh.available || !wanted)(title, () => {
  layer(Layer.merge(RealSshd.layer(), liveSsh()), { excludeTestServices: true })((it) => {
    it.scoped("is noticed within 20 seconds, by all that run and wait there", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const session = yield* (yield* Sftp).session(user.access())
        const running = yield* Effect.fork(Effect.flip(exec(user.access(), command("echo up; sleep 60"))))
        yield* Effect.sleep("300 millis")
        freeze(user)
        const [took, errors] = yield* Effect.timed(Effect.all([
          Fiber.join(running),
          Effect.flip(Stream.runCollect(session.list("~"))),
          Effect.flip(exec(user.access(), command("true")))
        ], { concurrency: 3 }))
        expect(Duration.toSeconds(took)).toBeLessThan(22 * patience)
        for (const error of errors) {
          expect(error).toMatchObject({ _tag: "ConnectionLost", reason: "it stopped answering" })
        }
        expect((yield* exec(user.access(), command("echo back"))).stdout).toBe("back\n")
      }), 60_000 * patience)

    it.scoped("does not hold up those who come later when its commands never end", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const stuck = command("exec >/dev/null 2>&1; trap '' TERM; sleep 50 & wait; sleep 50")
        const errors = yield* Effect.forEach(
          [1, 2, 3, 4],
          () => Effect.flip(exec(user.access(), stuck, { timeout: "200 millis" })),
          { concurrency: 4 }
        )
        expect(errors.map((error) => error._tag)).toEqual(errors.map(() => "RemoteTimeout"))
        const [took, exits] = yield* Effect.timed(Effect.forEach(
          [1, 2, 3, 4, 5, 6],
          () => exec(user.access(), command("echo served")),
          { concurrency: 6 }
        ))
        expect(exits.map((exit) => exit.stdout)).toEqual(exits.map(() => "served\n"))
        expect(Duration.toSeconds(took)).toBeLessThan(15 * patience)
      }), 60_000 * patience)

    it.scoped("loses its idle connection, unseen by the next command", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        yield* exec(user.access(), command("true"))
        freeze(user)
        yield* Effect.sleep("22 seconds")
        const exit = yield* exec(user.access(), command("echo back")).pipe(Effect.timeout("5 seconds"))
        expect(exit.stdout).toBe("back\n")
      }), 60_000 * patience)
  })
})
