import { describe, expect, layer } from "@effect/vitest"
import { Chunk, Clock, Deferred, Effect, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { withConnection } from "../../../src/services/ssh/Connections.ts"
import { makeLineLimit, Ssh } from "../../../src/services/ssh/Ssh.ts"
import { realSsh, RealSshd, run, type SshUser, startSshd } from "../../fixtures/network/openssh.ts"
import { command, eventually, liveSsh } from "./live.ts"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
const occurrences = (text: string, part: string) => text.split(part).length - 1

/** Peak and total sessions of sshd, by its log. */
const sessions = (log: string, user: SshUser) => {
  let open = 0
  let most = 0
  for (const line of log.split("\n").filter((line) => line.includes(user.name))) {
    if (line.startsWith("Starting session")) most = Math.max(most, ++open)
    if (line.startsWith("Close session")) open--
  }
  return { most, open }
}

/** Kills the process that serves a user, as a crash would. */
const breakConnection = (user: SshUser) =>
  Effect.gen(function*() {
    const serving = (yield* run("pgrep", ["-u", user.name, "-x", "sshd"])).trim().split("\n")
    for (const each of serving) yield* Effect.ignore(Effect.try(() => process.kill(Number(each), "SIGKILL")))
    yield* eventually(Effect.option(run("pgrep", ["-u", user.name, "-x", "-r", "D,R,S", "sshd"])), Option.isNone)
  })

describe.skipIf(!realSsh.available)(realSsh.title("SshLive with a real sshd"), () => {
  layer(Layer.merge(RealSshd.layer(), liveSsh()), { excludeTestServices: true })((it) => {
    it.scoped("tells exit code, both streams and arguments apart", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const script = "printf '%s|' \"$@\"; cat; echo wrong >&2; exit 3"
        const args = ["a b", "it's", "$(id)", "", "ü€😀"]
        expect(yield* exec(user.access(), command(script, { args, stdin: "in\0put" }))).toEqual({
          code: 3,
          stdout: "a b|it's|$(id)||ü€😀|in\0put",
          stderr: "wrong\n"
        })
        expect(yield* exec(user.access(), command("path_of \"$1\"", { args: ["~/x y"] }))).toMatchObject({
          stdout: `${user.home}/x y\n`
        })
      }))

    it.scoped("keeps a server's secrets out of what a command says, and leaves data as it is", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const secret = Redacted.make("hunter2-hunter2")
        const server = { ...user.access(), credentials: { ...user.access().credentials, sudoPassword: secret } }
        const says = (code: number) => command(`echo hunter2-hunter2; echo not hunter2-hunter2 >&2; exit ${code}`)
        expect(yield* exec(server, says(0))).toEqual({ code: 0, stdout: "hunter2-hunter2\n", stderr: "not ***\n" })
        expect(yield* exec(server, says(3))).toEqual({ code: 3, stdout: "***\n", stderr: "not ***\n" })
        // The limit cuts the first of them in half.
        const twice = yield* exec(server, command("echo hunter2-hunter2 hunter2-hunter2; exit 3"), { keepLast: 26 })
        expect(twice).toMatchObject({ stdout: "*** ***\n", truncated: true })
      }))

    it.scoped("has no exit code for a command that was killed", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const exit = yield* (yield* Ssh).exec(user.access(), command("echo so far; kill -KILL $$"))
        expect(exit).toEqual({ code: null, stdout: "so far\n", stderr: "" })
      }))

    it.scoped("keeps the last bytes of a long output", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const long = command("i=0; while [ $i -lt 20000 ]; do echo line $i; echo warn $i >&2; i=$((i+1)); done")
        const { stderr, ...exit } = yield* exec(user.access(), long, { keepLast: 22 })
        expect(exit).toEqual({
          code: 0,
          stdout: "ine 19998\nline 19999\n".padStart(22, "l").slice(-22),
          truncated: true
        })
        expect([stderr.length, stderr.slice(-22)]).toEqual([64 * 1024, "warn 19998\nwarn 19999\n"])
        const limit = makeLineLimit(6, 1)
        const whole = yield* exec(
          user.access(),
          command("head -c 6000000 /dev/zero; head -c 60000 /dev/zero >&2", { limit })
        )
        expect([whole.stdout.length, whole.stderr.length, whole.truncated]).toEqual([6e6, 6e4, undefined])
      }))

    it.scoped("refuses an argument before anything is sent", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const error = yield* Effect.flip((yield* Ssh).exec(user.access(), command("true", { args: ["a\nb"] })))
        expect(error._tag).toBe("RemoteArgumentRefused")
        expect(yield* sshd.log).not.toContain(user.name)
      }))

    it.scoped("sends a long input whole", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const bytes = randomBytes(24 * 1024 * 1024 + 17)
        const pieces = Stream.range(0, Math.ceil(bytes.length / 262_144) - 1).pipe(
          Stream.map((index) => bytes.subarray(index * 262_144, (index + 1) * 262_144))
        )
        const head = randomBytes(1000)
        const exit = yield* (yield* Ssh).exec(user.access(), command("sha256sum", { stdin: head }), { stdin: pieces })
        expect(exit.stdout.slice(0, 64)).toBe(sha256(Buffer.concat([head, bytes])))
      }))

    it.scoped("ends with a command that does not read its input", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const endless = Stream.repeatValue(Buffer.alloc(262_144))
        expect(yield* exec(user.access(), command("exec <&-; exit 4"), { stdin: endless })).toMatchObject({ code: 4 })
        expect(yield* exec(user.access(), command("head -c 5 | wc -c; exit 5"), { stdin: endless })).toMatchObject({
          code: 5,
          stdout: "5\n"
        })
        const large = command("exit 6", { stdin: Buffer.alloc(8 * 1024 * 1024) })
        expect(yield* exec(user.access(), large)).toMatchObject({ code: 6 })
      }))

    it.scoped("fails with the input's failure and stops the command", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        // The command has begun by then: sshd cannot signal what it has not started yet.
        const failing = Stream.fromEffect(Effect.delay(Effect.fail("disk gone" as const), "500 millis"))
        const stdin = Stream.concat(Stream.succeed(Buffer.from("some")), failing)
        const { exec } = yield* Ssh
        expect(yield* Effect.flip(exec(user.access(), command("cat >/dev/null; sleep 20"), { stdin }))).toBe(
          "disk gone"
        )
        yield* eventually(
          Effect.orDie(exec(user.access(), command("pgrep -c -u \"$1\" sleep", { args: [user.name] }))),
          (exit) => exit.stdout === "0\n"
        )
      }))

    it.scoped("gives a command up when its time is over, also where nothing can be interrupted", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const slow = command("sleep 2", { what: "sleeping" })
        const error = yield* Effect.flip(exec(user.access(), slow, { timeout: "100 millis" }))
        expect(error).toMatchObject({ _tag: "RemoteTimeout", what: "sleeping", seconds: 0.1, server: "Test" })
        const again = yield* Effect.uninterruptible(Effect.flip(exec(user.access(), slow, { timeout: "100 millis" })))
        expect(again._tag).toBe("RemoteTimeout")
        const fine = yield* Effect.uninterruptible(exec(user.access(), command("echo fine")))
        expect(fine.stdout).toBe("fine\n")
      }))

    it.scoped("runs 30 commands at once over one connection, four at a time", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const { exec } = yield* Ssh
        const numbers = Array.from({ length: 30 }, (_, index) => String(index))
        const exits = yield* Effect.forEach(
          numbers,
          (number) => exec(user.access(), command("sleep 0.05; echo \"$1\"", { args: [number] })),
          { concurrency: "unbounded" }
        )
        expect(exits.map((exit) => exit.stdout.trim())).toEqual(numbers)
        const log = yield* eventually(sshd.log, (log) => sessions(log, user).open === 0)
        expect(occurrences(log, `Accepted password for ${user.name}`)).toBe(1)
        expect(sessions(log, user).most).toBe(4)
      }))

    it.scoped("shares a connection between servers with one log-in, and with no other", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const { exec } = yield* Ssh
        yield* exec(user.access(), command("true"))
        yield* exec(user.access(undefined, { id: "other", name: "Other", useSudo: true }), command("true"))
        const sudoPassword = Redacted.make("else")
        yield* exec(user.access({ password: Redacted.make(user.password), sudoPassword }), command("true"))
        expect(occurrences(yield* sshd.log, `Accepted password for ${user.name}`)).toBe(1)
        const error = yield* Effect.flip(exec(user.access({ password: Redacted.make("wrong") }), command("true")))
        expect(error._tag).toBe("AuthenticationFailed")
      }))

    it.scoped("notices at once that the connection broke, and makes another", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        const { exec, spawn } = yield* Ssh
        yield* exec(user.access(), command("true"))
        const running = yield* Effect.fork(Effect.flip(exec(user.access(), command("echo $$; sleep 30"))))
        const { exit, stdout } = yield* spawn(user.access(), command("echo some; sleep 30"))
        yield* eventually(sshd.log, (log) => sessions(log, user).open === 2)
        yield* breakConnection(user)
        const error = yield* Fiber.join(running).pipe(Effect.timeout("2 seconds"))
        expect((yield* Effect.flip(Stream.runDrain(stdout)))._tag).toBe("ConnectionLost")
        expect((yield* Effect.flip(exit))._tag).toBe("ConnectionLost")
        expect(error).toMatchObject({ _tag: "ConnectionLost", server: "Test", host: "127.0.0.1", port: sshd.port })
        expect((yield* exec(user.access(), command("echo back"))).stdout).toBe("back\n")
        expect(occurrences(yield* sshd.log, `Accepted password for ${user.name}`)).toBe(2)
      }))

    it.scoped("makes a new connection where the last one closed while nobody used it", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        for (let round = 0; round < 3; round++) {
          expect((yield* exec(user.access(), command("echo $PPID"))).code).toBe(0)
          yield* breakConnection(user)
          // This process hears of it a moment after the server's is gone.
          yield* Effect.sleep("300 millis")
        }
      }))

    it.scoped("hands a running command over and ends it with the scope", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec, spawn } = yield* Ssh
        const waiting = command("trap 'echo ended >\"$HOME/ended\"; exit' TERM; echo ready; echo oops >&2; cat; :")
        yield* Effect.scoped(Effect.gen(function*() {
          const { exit, stderr, stdout } = yield* spawn(user.access(), waiting)
          expect(yield* Stream.runHead(Stream.decodeText(stdout))).toMatchObject({ value: "ready\n" })
          expect(yield* Stream.runHead(Stream.decodeText(stderr))).toMatchObject({ value: "oops\n" })
          expect(yield* Effect.timeoutOption(exit, "100 millis")).toMatchObject({ _tag: "None" })
        }))
        yield* eventually(
          Effect.orDie(exec(user.access(), command("cat \"$HOME/ended\""))),
          (exit) => exit.stdout === "ended\n"
        )
      }))

    it.scoped("tells how a spawned command ended, its input closed where it has one", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { spawn } = yield* Ssh
        const { exit, stdout } = yield* spawn(user.access(), command("cat; exit 9", { stdin: "given" }))
        expect(Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.decodeText(stdout))).join("")).toBe("given")
        expect(yield* exit).toBe(9)
        const silent = yield* spawn(user.access(), command("echo unread; echo unread >&2; exit 8"))
        expect(yield* silent.exit).toBe(8)
      }))

    it.scoped("feeds a spawned command a stream behind its own input, and breaks off with it", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const { exec, spawn } = yield* Ssh
        const bytes = randomBytes(5_000_000)
        const pieces = Stream.map(Stream.range(0, 49), (at) => bytes.subarray(at * 100_000, (at + 1) * 100_000))
        const whole = yield* spawn(
          user.access(),
          command("as_root sha256sum", { sudo: true, stdin: "first" }),
          pieces
        )
        const text = yield* Stream.mkString(Stream.decodeText(whole.stdout))
        expect(text).toContain(sha256(Buffer.concat([Buffer.from("first"), bytes])))
        expect(yield* whole.exit).toBe(0)

        const early = yield* spawn(user.access(), command("exec <&-; echo enough; exit 4"), pieces)
        expect(yield* early.exit).toBe(4)

        const ready = yield* Deferred.make<never, string>()
        const { stdout } = yield* spawn(
          user.access(),
          command("trap 'echo ended >\"$HOME/ended\"; exit' TERM; echo ready; cat >/dev/null; sleep 1; :"),
          Stream.concat(Stream.make(bytes.subarray(0, 1000)), Stream.fromEffect(Deferred.await(ready)))
        )
        yield* Stream.runHead(stdout)
        yield* Deferred.fail(ready, "the disk is gone")
        yield* eventually(
          Effect.orDie(exec(user.access(), command("cat \"$HOME/ended\""))),
          (exit) => exit.stdout === "ended\n"
        )
      }))

    it.scoped("streams a spawned command's output whole, at the reader's pace", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { stdout } = yield* (yield* Ssh).spawn(user.access(), command("head -c 20000000 /dev/zero"))
        const bytes = yield* Stream.runFoldEffect(stdout, 0, (sum, chunk) =>
          Effect.as(Effect.yieldNow(), sum + chunk.length))
        expect(bytes).toBe(20_000_000)
      }))

    it.scoped("frees a place for those who wait when its user is interrupted", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec, spawn } = yield* Ssh
        const started = yield* Deferred.make<void>()
        const holding = yield* Effect.fork(Effect.scoped(Effect.gen(function*() {
          for (let place = 0; place < 4; place++) yield* spawn(user.access(), command("cat"))
          yield* Deferred.succeed(started, undefined)
          yield* Effect.never
        })))
        yield* Deferred.await(started)
        const waiting = yield* Effect.fork(exec(user.access(), command("echo served")))
        expect(yield* Effect.timeoutOption(Fiber.join(waiting), "200 millis")).toMatchObject({ _tag: "None" })
        yield* Fiber.interrupt(holding)
        expect((yield* Fiber.join(waiting)).stdout).toBe("served\n")
      }))
  })

  layer(Layer.merge(RealSshd.layer({ maxSessions: 1 }), liveSsh()), { excludeTestServices: true })((it) => {
    it.scoped("has a connection for each command that stays, where the server allows one session on it", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec, spawn } = yield* Ssh
        for (const pool of ["work", "followers", "commands"] as const) {
          const held = yield* Effect.forEach(
            [1, 2, 3],
            () => spawn(user.access(), { ...command("echo here; cat"), pool })
          )
          for (const { stdout } of held) {
            const [first] = yield* Stream.runCollect(Stream.take(Stream.decodeText(stdout), 1))
            expect(first).toBe("here\n")
          }
          expect((yield* exec(user.access(), { ...command("echo on"), pool })).stdout).toBe("on\n")
        }
      }))

    it.scoped("still has one for each when the limit of the server was noted long ago", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec, spawn } = yield* Ssh
        const hold = spawn(user.access(), command("cat"))
        const clock = yield* Effect.clock
        const later: Clock.Clock = {
          [Clock.ClockTypeId]: Clock.ClockTypeId,
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + 3_600_000),
          currentTimeNanos: clock.currentTimeNanos,
          unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis(),
          unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
          sleep: (duration) => clock.sleep(duration)
        }
        // The second one meets the limit; the third has a connection that was made for a single session.
        yield* hold
        yield* hold
        yield* withConnection(7)(hold)
        const { stdout } = yield* exec(user.access(), command("echo on")).pipe(
          withConnection(7),
          Effect.withClock(later)
        )
        expect(stdout).toBe("on\n")
      }))

    it.scoped("waits where the server allows one session at a time", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const exits = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => index),
          () => exec(user.access(), command("sleep 0.02")),
          { concurrency: "unbounded" }
        )
        expect(exits.map((exit) => exit.code)).toEqual(exits.map(() => 0))
      }))
  })

  layer(RealSshd.layer(), { excludeTestServices: true })((it) => {
    it.scoped("closes its connections with the layer", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser()
        yield* Effect.provide(Effect.flatMap(Ssh, ({ exec }) => exec(user.access(), command("true"))), liveSsh())
        yield* eventually(sshd.children, (left) => left.length === 0)
      }))

    it.scoped("takes the end of the server for a lost connection", () =>
      Effect.gen(function*() {
        const user = yield* (yield* startSshd()).makeUser()
        const exit = yield* Effect.exit(
          (yield* Ssh).exec(user.access(), command("kill -KILL $(pgrep -u \"$(id -un)\" sshd); sleep 5"))
        )
        expect(exit).toMatchObject({ _tag: "Failure", cause: { error: { _tag: "ConnectionLost" } } })
      }).pipe(Effect.provide(liveSsh())))
  })
})
