import { describe, expect, layer } from "@effect/vitest"
import { Chunk, Effect, Fiber, Layer, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { realSsh, RealSshd } from "../../fixtures/network/openssh.ts"
import { command, liveSsh } from "./live.ts"

const whole = <E>(content: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(content), (chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))

const start = Effect.gen(function*() {
  const user = yield* (yield* RealSshd).makeUser()
  const session = yield* (yield* Sftp).session(user.access())
  const at = (name: string) => join(user.home, name)
  return { at, session, user }
})

describe.skipIf(!realSsh.available)(realSsh.title("SftpLive with a real sshd"), () => {
  layer(Layer.merge(RealSshd.layer(), liveSsh()), { excludeTestServices: true })((it) => {
    it.scoped("tells what stands at a path, links as links", () =>
      Effect.gen(function*() {
        const { at, session, user } = yield* start
        writeFileSync(at("it's a file"), "12345")
        mkdirSync(at("dir"))
        symlinkSync("/etc/passwd", at("link"))
        execFileSync("mkfifo", [at("pipe")])
        expect(yield* session.stat("~/it's a file")).toEqual({ name: "it's a file", kind: "file", size: 5 })
        expect(yield* session.stat(at("dir"))).toMatchObject({ name: "dir", kind: "directory" })
        expect(yield* session.stat("~/dir/")).toMatchObject({ name: "dir", kind: "directory" })
        expect(yield* session.stat("~/link")).toMatchObject({ name: "link", kind: "link" })
        expect(yield* session.stat("~")).toMatchObject({ name: user.name, kind: "directory" })
        const listed = [...yield* Stream.runCollect(session.list("~"))].filter((entry) => !entry.name.startsWith("."))
        expect(listed.map(({ kind, name }) => [name, kind]).sort()).toEqual([
          ["dir", "directory"],
          ["it's a file", "file"],
          ["link", "link"],
          ["pipe", "other"]
        ])
      }))

    it.scoped("says what is wrong with a path", () =>
      Effect.gen(function*() {
        const { at, session } = yield* start
        writeFileSync(at("closed"), "secret", { mode: 0o600 })
        chmodSync(at("closed"), 0)
        const reasons = yield* Effect.all([
          Effect.flip(session.stat("~/nothing")),
          Effect.flip(Stream.runCollect(session.list("~/nothing"))),
          Effect.flip(whole(session.read("~/nothing"))),
          Effect.flip(whole(session.read("~/closed"))),
          Effect.flip(session.stat("a\0b")),
          Effect.flip(session.stat("~nobody/x"))
        ])
        expect(reasons.map((error) => error.message)).toEqual([
          "~/nothing on \"Test\": no such file or directory",
          "~/nothing on \"Test\": no such file or directory",
          "~/nothing on \"Test\": no such file or directory",
          "~/closed on \"Test\": permission denied",
          "a\0b on \"Test\": a path must not contain NUL",
          "~nobody/x on \"Test\": no such file or directory"
        ])
        expect(reasons.every((error) => error._tag === "RemoteFileFailed")).toBe(true)
      }))

    for (const size of [0, 1, 32_768, 32_769, 9_000_000]) {
      it.scoped(`reads ${size} bytes whole and in order`, () =>
        Effect.gen(function*() {
          const { at, session } = yield* start
          const bytes = randomBytes(size)
          writeFileSync(at("data"), bytes)
          expect((yield* whole(session.read("~/data"))).equals(bytes)).toBe(true)
        }))
    }

    it.scoped("reads what has no size", () =>
      Effect.gen(function*() {
        const { session } = yield* start
        expect((yield* whole(session.read("/proc/version"))).toString()).toBe(readFileSync("/proc/version", "utf8"))
      }))

    it.scoped("reads no further than its reader", () =>
      Effect.gen(function*() {
        const { at, session } = yield* start
        writeFileSync(at("large"), "")
        truncateSync(at("large"), 64 * 1024 * 1024 * 1024)
        const first = yield* Stream.runHead(session.read("~/large"))
        expect(first).toMatchObject({ _tag: "Some" })
      }))

    it.scoped("fails where a file becomes shorter while it is read", () =>
      Effect.gen(function*() {
        const { at, session } = yield* start
        writeFileSync(at("shrinking"), Buffer.alloc(8 * 1024 * 1024))
        const error = yield* session.read("~/shrinking").pipe(
          Stream.tap(() => Effect.sync(() => truncateSync(at("shrinking"), 1000))),
          Stream.runDrain,
          Effect.flip
        )
        expect(error.message).toContain("became shorter")
      }))

    it.scoped("writes a new file that only its owner may read", () =>
      Effect.gen(function*() {
        const { at, session } = yield* start
        const bytes = randomBytes(200_000)
        yield* session.writePrivate("~/private", bytes)
        expect(readFileSync(at("private")).equals(bytes)).toBe(true)
        expect(statSync(at("private")).mode & 0o777).toBe(0o600)
        yield* session.writePrivate("~/empty", new Uint8Array())
        expect(statSync(at("empty")).size).toBe(0)
      }))

    it.scoped("does not write over what is there, nor through a link", () =>
      Effect.gen(function*() {
        const { at, session, user } = yield* start
        writeFileSync(at("taken"), "mine")
        symlinkSync(at("elsewhere"), at("link"))
        for (const name of ["taken", "link"]) {
          expect((yield* Effect.flip(session.writePrivate(`~/${name}`, Buffer.from("new"))))._tag).toBe(
            "RemoteFileFailed"
          )
        }
        expect(readFileSync(at("taken"), "utf8")).toBe("mine")
        expect([...yield* Stream.runCollect(session.list("~"))].map((entry) => entry.name)).not.toContain("elsewhere")
        mkdirSync(at("others"))
        chownSync(at("others"), 0, 0)
        const denied = yield* Effect.flip(session.writePrivate("~/others/x", Buffer.from("new")))
        expect(denied.message).toBe(`~/others/x on "Test": permission denied`)
        expect(user.name).not.toBe("root")
      }))

    it.scoped("counts as a channel until its scope closes", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const { exec } = yield* Ssh
        const { session } = yield* Sftp
        yield* Effect.scoped(Effect.gen(function*() {
          yield* Effect.all([1, 2, 3, 4].map(() => session(user.access())))
          expect(yield* Effect.timeoutOption(exec(user.access(), command("true")), "300 millis")).toMatchObject({
            _tag: "None"
          })
        }))
        expect((yield* exec(user.access(), command("true"))).code).toBe(0)
      }))

    it.scoped("notices at once that the server ended the session", () =>
      Effect.gen(function*() {
        const { at, session, user } = yield* start
        execFileSync("mkfifo", [at("pipe")])
        // The server cannot answer before somebody writes to the pipe.
        const reading = yield* Effect.fork(Effect.flip(whole(session.read("~/pipe"))))
        expect(yield* Effect.timeoutOption(Fiber.join(reading), "100 millis")).toMatchObject({ _tag: "None" })
        execFileSync("pkill", ["-KILL", "-u", user.name, "-x", "sshd"])
        expect((yield* Effect.timeout(Fiber.join(reading), "2 seconds"))._tag).toBe("ConnectionLost")
        const error = yield* Effect.flip(session.stat("~"))
        expect(error._tag).toBe("ConnectionLost")
      }))
  })

  layer(Layer.merge(RealSshd.layer({ config: ["Subsystem sftp /nonexistent/sftp-server"] }), liveSsh()), {
    excludeTestServices: true
  })((it) => {
    it.scoped("says so where the server has no file transfer", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const error = yield* Effect.flip((yield* Sftp).session(user.access()))
        expect(error._tag).toBe("ServerUnreachable")
        expect((yield* (yield* Ssh).exec(user.access(), command("true"))).code).toBe(0)
      }))
  })
})
