import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted, TestClock } from "effect"
import { execFileSync } from "node:child_process"
import { createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import type { ServerAccess } from "../../../../src/schema/servers.ts"
import { Ssh } from "../../../../src/services/ssh/Ssh.ts"
import { fakeSsh } from "../../../fixtures/network/fakeSsh.ts"
import { temporaryDirectory } from "../../../layers/temporary.ts"
import { command, liveSsh } from "../live.ts"

const logIn = (server: ServerAccess) => Effect.flatMap(Ssh, ({ exec }) => exec(server, command("id -un")))

const refused = (server: ServerAccess) => Effect.timeout(Effect.flip(logIn(server)), "10 seconds")

const nobody: ServerAccess = {
  id: "1",
  name: "Main",
  host: "127.0.0.1",
  port: 1,
  username: "deployer",
  useSudo: false,
  credentials: { password: Redacted.make("secret") }
}

/** A port on which a program answers each connection in its way. */
const answering = (answer: (socket: Socket) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<Server>((resume) => {
        const server = createServer((socket) => {
          socket.on("error", () => undefined)
          answer(socket)
        }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    ),
    (server) => {
      const address = server.address()
      return { ...nobody, port: typeof address === "object" && address !== null ? address.port : 1 }
    }
  )

describe("connecting to what is no server", () => {
  it.scopedLive("tells a closed port, an unknown name and another protocol apart", () =>
    Effect.gen(function*() {
      const closed = yield* Effect.scoped(answering(() => undefined))
      expect(yield* refused(closed)).toMatchObject({ _tag: "ServerUnreachable", reason: "connection refused" })
      const unknown = yield* refused({ ...nobody, host: "nowhere.invalid" })
      expect(unknown.message).toMatch(/^Cannot reach server "Main" at nowhere\.invalid:1: the host name/)
      const http = yield* answering((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      const [took, error] = yield* Effect.timed(refused(http))
      expect(error.message).toBe(
        `Cannot reach server "Main" at 127.0.0.1:${http.port}: what answers there does not speak SSH but HTTP: ` +
          "check host and port"
      )
      // At once, and not after the six attempts that a server gets which hangs up.
      expect(Duration.toMillis(took)).toBeLessThan(1_000)
    }).pipe(Effect.provide(liveSsh())))

  it.scoped("gives a server that says nothing 15 seconds", () =>
    Effect.gen(function*() {
      let connected = () => {}
      const met = new Promise<void>((resolve) => {
        connected = resolve
      })
      const silent = yield* answering(() => connected())
      const waiting = yield* Effect.fork(Effect.flip(logIn(silent)))
      yield* Effect.promise(() => met)
      yield* TestClock.adjust("15 seconds")
      expect(yield* Fiber.join(waiting)).toMatchObject({
        _tag: "ServerUnreachable",
        reason: "no answer within 15 seconds"
      })
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive("comes again to a server that hangs up, for a few seconds", () =>
    Effect.gen(function*() {
      let times = 0
      const full = yield* answering((socket) => {
        times++
        socket.end("Exceeded MaxStartups\r\n")
      })
      const error = yield* Effect.flip(logIn(full))
      expect(error).toMatchObject({ _tag: "ServerUnreachable" })
      expect(error.message).toContain("it may be turning new connections away")
      expect(times).toBe(6)
    }).pipe(Effect.provide(liveSsh())), 20_000)
})

describe("a private key that cannot be read", () => {
  const logInWith = (privateKey: string) =>
    Effect.gen(function*() {
      const { access } = yield* fakeSsh({ refuses: true })
      const error = yield* refused({ ...access, credentials: { privateKey } })
      return error.message.split("(\"Main\"): ")[1]
    }).pipe(Effect.provide(liveSsh()))

  it.scopedLive("is told for what it is, without waiting for a pipe", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const missing = join(directory, "id_ed25519")
      expect(yield* logInWith(missing)).toBe(`the key file ${missing} does not exist`)
      expect(yield* logInWith(directory)).toBe(
        `the private key ${directory} cannot be used: it is not a regular file`
      )
      if (process.platform !== "win32") {
        const pipe = join(directory, "pipe")
        execFileSync("mkfifo", [pipe])
        expect(yield* logInWith(pipe)).toBe(`the private key ${pipe} cannot be used: it is not a regular file`)
      }
    }))
})
