import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, TestClock } from "effect"
import { execFileSync } from "node:child_process"
import { createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import type { ServerAccess } from "../../../../src/schema/ssh.ts"
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

/** Lists of algorithms, in the order of a KEXINIT packet. */
const offers = {
  kex: "curve25519-sha256,ext-info-s,kex-strict-s-v00@openssh.com",
  hostKey: "ssh-ed25519",
  cipher: "aes128-ctr",
  mac: "hmac-sha2-256",
  compression: "none"
}

/** Greeting of a server with these algorithms. */
const greetingOf = (changed: Partial<typeof offers>) => {
  const { cipher, compression, hostKey, kex, mac } = { ...offers, ...changed }
  const lists = [kex, hostKey, cipher, cipher, mac, mac, compression, compression, "", ""].flatMap((names) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(names.length)
    return [length, Buffer.from(names)]
  })
  const payload = Buffer.concat([Buffer.of(20), Buffer.alloc(16, 1), ...lists, Buffer.alloc(5)])
  const padding = 8 - ((payload.length + 5) % 8) + 8
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length + padding + 1)
  head.writeUInt8(padding, 4)
  return Buffer.concat([Buffer.from("SSH-2.0-old\r\n"), head, payload, Buffer.alloc(padding)])
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
      let times = 0
      const http = yield* answering((socket) => {
        times++
        socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")
      })
      const error = yield* refused(http)
      expect(error.message).toBe(
        `Cannot reach server "Main" at 127.0.0.1:${http.port}: what answers there does not speak SSH but HTTP: ` +
          "check host and port"
      )
      // A server that hangs up gets six attempts.
      expect(times).toBe(1)
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive.each(
    [
      [{ kex: "diffie-hellman-group1-sha1" }, "key exchange algorithm", "diffie-hellman-group1-sha1", "KexAlgorithms"],
      [{ hostKey: "ssh-dss" }, "host key algorithm", "ssh-dss", "HostKeyAlgorithms"],
      [{ cipher: "3des-cbc,arcfour" }, "cipher", "3des-cbc, arcfour", "Ciphers"],
      [{ mac: "hmac-md5\u001b[31m" }, "MAC", "hmac-md5\\u001b[31m", "MACs"]
    ] as const
  )("names what a server with %j has and what Berth has", ([offer, words, theirs, option]) =>
    Effect.gen(function*() {
      const old = yield* answering((socket) => socket.end(greetingOf(offer)))
      const error = yield* refused(old)
      expect(error).toMatchObject({ _tag: "ServerUnreachable" })
      expect(error.message).toMatch(/, and Berth has [a-z][\w@.-]+, [^:]+\. Add one of the latter to /)
      expect(error.message).toContain(`: it shares no ${words} with Berth: it has ${theirs}, and Berth has `)
      expect(error.message).toContain(` to ${option} in the server's sshd_config`)
      expect(error.message).not.toMatch(/ext-info|kex-strict/)
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
