import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import ssh2 from "ssh2"
import type { FileEntryWithStats, Stats } from "ssh2"
import { makeSshServer } from "../../src/sandbox/sshServer.ts"
import type { SshServerOptions } from "../../src/sandbox/sshServer.ts"
import { eventually } from "./eventually.ts"
import { call, connect, done, ended, exec, open, openSftp } from "./sshClient.ts"
import type { ClientFailed } from "./sshClient.ts"

const start = (options: Partial<SshServerOptions> = {}) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const home = yield* files.makeTempDirectoryScoped({ prefix: "berth-ssh-" })
    const server = yield* makeSshServer({ home, password, ...options })
    return { home, server }
  })

const scoped = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem | Scope.Scope>) =>
  Effect.provide(Effect.scoped(effect), NodeFileSystem.layer)

const password = Redacted.make("open sesame")
const exists = (path: string) => Effect.sync(() => existsSync(path))

// A shell and its child.
const two = "echo $$ > first; sh -c 'echo $$ > second; while :; do sleep 0.05; done' & while :; do sleep 0.05; done"
const isRunning = (file: string) =>
  Effect.orElseSucceed(
    Effect.flatMap(
      Effect.tryPromise(() => readFile(file, "utf8")),
      (pid) => Effect.try(() => Number(pid) > 0 && process.kill(Number(pid), 0))
    ),
    () => false
  )
const bothRun = (home: string) =>
  Effect.zipWith(isRunning(`${home}/first`), isRunning(`${home}/second`), (one, other) => one && other)
const neitherRuns = (home: string) =>
  Effect.zipWith(isRunning(`${home}/first`), isRunning(`${home}/second`), (one, other) => !one && !other)

const text = (bytes: Buffer) => bytes.toString("utf8")

const sftpOf = (options: Partial<SshServerOptions> = {}) =>
  Effect.gen(function*() {
    const { home, server } = yield* start(options)
    return { home, sftp: yield* openSftp(yield* connect(server)) }
  })
const reasonOf = <A>(effect: Effect.Effect<A, ClientFailed>) =>
  Effect.map(Effect.flip(effect), ({ code, reason }) => ({ code, reason }))

describe("logging in", () => {
  it.live("takes the password and shows its fingerprint", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start()
      let key: Uint8Array = new Uint8Array()
      const client = yield* connect(server, {
        hostVerifier: (presented: Buffer) => {
          key = presented
          return true
        }
      })
      expect(text((yield* exec(client, "echo in")).stdout)).toBe("in\n")
      const digest = createHash("sha256").update(key).digest("base64").replace(/=+$/, "")
      expect(server.fingerprint).toBe(`SHA256:${digest}`)
      expect(yield* server.commands).toEqual(["echo in"])
      expect(yield* server.connections).toBe(1)
    })))

  it.live("turns a wrong password and a wrong name down", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start()
      const password = yield* Effect.flip(connect(server, { password: "wrong" }))
      expect(password.reason).toMatch(/authentication/i)
      const name = yield* Effect.flip(connect(server, { username: "root" }))
      expect(name.reason).toMatch(/authentication/i)
    })))

  it.live("takes a listed key, and no other", () =>
    scoped(Effect.gen(function*() {
      const mine = ssh2.utils.generateKeyPairSync("ecdsa", { bits: 256 })
      const other = ssh2.utils.generateKeyPairSync("ecdsa", { bits: 256 })
      const { server } = yield* start({ methods: ["publickey"], authorizedKeys: [mine.public] })
      const client = yield* connect(server, { privateKey: mine.private })
      expect((yield* exec(client, "true")).code).toBe(0)
      expect((yield* Effect.flip(connect(server, { privateKey: other.private }))).reason).toMatch(/authentication/i)
      expect((yield* Effect.flip(connect(server))).reason).toMatch(/authentication/i)
    })))

  it.live("asks for the password where it is keyboard-interactive", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start({ methods: ["keyboard-interactive"] })
      expect((yield* Effect.flip(connect(server))).reason).toMatch(/authentication/i)
      const client = yield* Effect.acquireRelease(
        Effect.async<ssh2.Client>((resume) => {
          const made = new ssh2.Client()
          made.on("keyboard-interactive", (_name, _how, _lang, _prompts, answer) => answer(["open sesame"]))
          made.once("ready", () => resume(Effect.succeed(made)))
          made.connect({ host: server.host, port: server.port, username: server.username, tryKeyboard: true })
        }),
        (made) => Effect.sync(() => made.destroy())
      )
      expect((yield* exec(client, "true")).code).toBe(0)
    })))
})

describe("commands", () => {
  it.live("run in the home, with the given PATH and variables", () =>
    scoped(Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const bin = yield* files.makeTempDirectoryScoped()
      yield* files.writeFileString(`${bin}/greet`, "#!/bin/sh\necho \"hello $1\"\n")
      yield* files.chmod(`${bin}/greet`, 0o755)
      const { home, server } = yield* start({ path: [bin], env: { COLOUR: "green" } })
      const client = yield* connect(server)
      const { code, stderr, stdout } = yield* exec(client, "greet you; echo \"$COLOUR $USER\"; pwd -P; echo \"$HOME\"")
      expect(text(stdout)).toBe(`hello you\ngreen sandbox\n${yield* files.realPath(home)}\n${home}\n`)
      expect(text(stderr)).toBe("")
      expect(code).toBe(0)
    })))

  it.live("answer their exit code, also when they cannot be found", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start()
      const client = yield* connect(server)
      expect((yield* exec(client, "exit 7")).code).toBe(7)
      const missing = yield* exec(client, "no-such-program-at-all")
      expect(missing.code).toBe(127)
      expect(text(missing.stderr)).toContain("no-such-program-at-all")
    })))

  it.live("answer the signal that ended them", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start()
      const client = yield* connect(server)
      const killed = yield* exec(client, "kill -TERM $$")
      expect(killed.code).toBe(null)
      expect(killed.signal).toBe("SIGTERM")
      const channel = yield* open(client, "exec sleep 60")
      channel.signal("INT")
      expect((yield* ended(channel)).signal).toBe("SIGINT")
    })))

  it.live("keep both streams whole and apart while the client is slow to read", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start()
      const client = yield* connect(server)
      const channel = yield* open(client, "head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2; echo end")
      channel.end()
      let out = 0
      // First the one stream has to wait for the window, then the other.
      yield* Effect.sleep("200 millis")
      channel.on("data", (chunk: Buffer) => out += chunk.length)
      yield* eventually(Effect.sync(() => out === 5_000_000))
      yield* Effect.sleep("200 millis")
      const { code, stderr } = yield* ended(channel)
      expect({ code, out, err: stderr.length }).toEqual({ code: 0, out: 5_000_004, err: 5_000_000 })
    })))

  it.live("carry 20 MB each way without a changed byte", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start()
      const client = yield* connect(server)
      const bytes = randomBytes(20_000_000)
      const up = yield* exec(client, "cat > file && wc -c < file", bytes)
      expect(text(up.stdout).trim()).toBe("20000000")
      const down = yield* exec(client, "cat file")
      expect(down.code).toBe(0)
      expect(down.stdout.equals(bytes)).toBe(true)
    })))

  it.live("end with the input that they read, and without reading all of it", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start()
      const client = yield* connect(server)
      const channel = yield* open(client, "cat >/dev/null; echo read")
      channel.end("something")
      expect(text((yield* ended(channel)).stdout)).toBe("read\n")
      const early = yield* exec(client, "exit 3", randomBytes(5_000_000))
      expect(early.code).toBe(3)
    })))

  it.live("are hung up on with their whole process group when the channel closes", () =>
    scoped(Effect.gen(function*() {
      const { home, server } = yield* start()
      const client = yield* connect(server)
      const channel = yield* open(client, two)
      yield* eventually(bothRun(home))
      channel.close()
      yield* eventually(neitherRuns(home))
      expect((yield* exec(client, "echo still here")).code).toBe(0)
    })))

  it.live("are hung up on when the channel closes while they leave their input unread", () =>
    scoped(Effect.gen(function*() {
      const { home, server } = yield* start()
      const client = yield* connect(server)
      const channel = yield* open(client, two)
      channel.write(randomBytes(1_000_000))
      yield* eventually(bothRun(home))
      channel.close()
      yield* eventually(neitherRuns(home))
    })))

  it.live("are hung up on when the connection breaks", () =>
    scoped(Effect.gen(function*() {
      const { home, server } = yield* start()
      yield* open(yield* connect(server), two)
      yield* eventually(bothRun(home))
      yield* server.cutConnections
      yield* eventually(neitherRuns(home))
      expect((yield* exec(yield* connect(server), "true")).code).toBe(0)
    })))

  it.live("run to their end when they ignore the hang-up", () =>
    scoped(Effect.gen(function*() {
      const { home, server } = yield* start()
      const deaf = "trap '' HUP PIPE; : > begun; cat >/dev/null; echo lost; sleep 0.3; : > ended"
      const channel = yield* open(yield* connect(server), deaf)
      yield* eventually(exists(`${home}/begun`))
      channel.close()
      yield* eventually(exists(`${home}/ended`))
    })))

  it.live("end with the server", () =>
    scoped(Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const home = yield* files.makeTempDirectoryScoped()
      yield* Effect.scoped(Effect.gen(function*() {
        const server = yield* makeSshServer({ home, password })
        yield* open(yield* connect(server), `trap '' HUP; ${two}`)
        yield* eventually(bothRun(home))
      }))
      yield* eventually(neitherRuns(home))
    })))

  it.live("let go of the locks that they held", () =>
    scoped(Effect.gen(function*() {
      const { home, server } = yield* start()
      const client = yield* connect(server)
      const take = "exec 9>>lock; flock -n 9 || exit 75; : > held; cat >/dev/null"
      const holder = yield* open(client, take)
      yield* eventually(exists(`${home}/held`))
      expect((yield* exec(client, take)).code).toBe(75)
      holder.close()
      yield* eventually(Effect.map(exec(client, take), ({ code }) => code === 0))
    })))

  it.live("are at most ten at a time on a connection, as OpenSSH has it", () =>
    scoped(Effect.gen(function*() {
      const { server } = yield* start()
      const client = yield* connect(server)
      const channels = yield* Effect.forEach(Array.from({ length: 10 }), () => open(client, "cat"))
      expect(yield* Effect.flip(open(client, "cat"))).toMatchObject({ code: 2 })
      const [first, ...others] = channels
      const closed = Effect.forEach([first, ...others], (channel) => channel ? ended(channel) : Effect.void, {
        concurrency: 10
      })
      channels.forEach((channel) => channel.end())
      yield* closed
      expect((yield* exec(client, "echo free")).code).toBe(0)
    })))
})

describe("SFTP", () => {
  it.live("carries 20 MB each way without a changed byte", () =>
    scoped(Effect.gen(function*() {
      const { sftp } = yield* sftpOf()
      const bytes = randomBytes(20_000_000)
      yield* done((end) => sftp.writeFile("big", bytes, { mode: 0o600 }, end))
      expect(yield* call((end) => sftp.stat("big", end))).toMatchObject({ size: 20_000_000, mode: 0o100600 })
      expect((yield* call<Buffer>((end) => sftp.readFile("big", end))).equals(bytes)).toBe(true)
    })))

  it.live("starts relative paths at the home and knows where that is", () =>
    scoped(Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const { home, sftp } = yield* sftpOf()
      const real = yield* files.realPath(home)
      expect(yield* call((end) => sftp.realpath(".", end))).toBe(real)
      expect(yield* call((end) => sftp.realpath("not-yet", end))).toBe(`${real}/not-yet`)
      expect(yield* reasonOf(call((end) => sftp.realpath("not/yet", end)))).toMatchObject({ code: 2 })
    })))

  it.live("lists directories of any size with the kinds of their entries", () =>
    scoped(Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const { home, sftp } = yield* sftpOf()
      yield* done((end) => sftp.mkdir("many", end))
      yield* Effect.forEach(Array.from({ length: 250 }, (_, n) => n), (n) =>
        files.writeFileString(`${home}/many/file ${n}`, "x".repeat(n)), { concurrency: 16 })
      yield* files.symlink("/etc", `${home}/many/link`)
      const entries = yield* call<ReadonlyArray<FileEntryWithStats>>((end) =>
        sftp.readdir("many", end)
      )
      expect(entries).toHaveLength(251)
      const link = entries.find(({ filename }) => filename === "link")
      expect(link?.attrs.isSymbolicLink()).toBe(true)
      expect(entries.find(({ filename }) => filename === "file 249")?.attrs.size).toBe(249)
      expect(yield* call((end) => sftp.readlink("many/link", end))).toBe("/etc")
      expect((yield* call<Stats>((end) => sftp.lstat("many/link", end))).isSymbolicLink()).toBe(true)
      expect((yield* call<Stats>((end) => sftp.stat("many/link", end))).isDirectory()).toBe(true)
    })))

  it.live("creates, renames and removes, and does not replace what is there", () =>
    scoped(Effect.gen(function*() {
      const { home, sftp } = yield* sftpOf()
      yield* done((end) => sftp.writeFile("one", "1", { mode: 0o600 }, end))
      yield* done((end) => sftp.writeFile("two", "2", end))
      expect(yield* reasonOf(done((end) => sftp.writeFile("one", "x", { flag: "wx" }, end)))).toMatchObject({ code: 4 })
      expect(yield* reasonOf(done((end) => sftp.rename("one", "two", end)))).toMatchObject({ code: 4 })
      yield* done((end) => sftp.rename("one", "three", end))
      yield* done((end) => sftp.chmod("three", 0o640, end))
      expect((yield* call<Stats>((end) => sftp.stat("three", end))).mode & 0o777).toBe(0o640)
      yield* done((end) => sftp.unlink("two", end))
      expect(yield* exists(`${home}/two`)).toBe(false)
      yield* done((end) => sftp.mkdir("dir", end))
      yield* done((end) => sftp.rmdir("dir", end))
      expect(yield* exists(`${home}/dir`)).toBe(false)
    })))

  it.live("says what is missing and what is not allowed", () =>
    scoped(Effect.gen(function*() {
      const { sftp } = yield* sftpOf()
      expect(yield* reasonOf(call((end) => sftp.stat("nothing", end)))).toEqual({ code: 2, reason: "No such file" })
      expect(yield* reasonOf(call((end) => sftp.readdir("nothing", end)))).toMatchObject({ code: 2 })
      expect(yield* reasonOf(call((end) => sftp.readFile(".", end)))).toMatchObject({ code: 4 })
    })))

  it.live("reaches all of the machine unless it is confined to the home", () =>
    scoped(Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const outside = yield* files.makeTempDirectoryScoped()
      yield* files.writeFileString(`${outside}/file`, "out")
      const open = yield* sftpOf()
      expect(String(yield* call<Buffer>((end) => open.sftp.readFile(`${outside}/file`, end)))).toBe("out")

      const { home, sftp } = yield* sftpOf({ confined: true })
      yield* files.symlink(outside, `${home}/way-out`)
      yield* files.writeFileString(`${home}/file`, "in")
      const denied = { code: 3, reason: "Permission denied: outside the home directory" }
      for (const path of [`${outside}/file`, "../x", "a/../../x", "/", "way-out/file", "way-out", ".."]) {
        expect(yield* reasonOf(call((end) => sftp.stat(path, end)))).toEqual(denied)
        expect(yield* reasonOf(call((end) => sftp.realpath(path, end)))).toEqual(denied)
        expect(yield* reasonOf(done((end) => sftp.writeFile(path, "x", end)))).toEqual(denied)
      }
      expect(yield* reasonOf(done((end) => sftp.rename("file", `${outside}/new`, end)))).toEqual(denied)
      expect(yield* reasonOf(done((end) => sftp.mkdir("way-out/new", end)))).toEqual(denied)
      expect((yield* call<Stats>((end) => sftp.lstat("way-out", end))).isSymbolicLink()).toBe(true)
      expect(String(yield* call<Buffer>((end) => sftp.readFile(`${home}/file`, end)))).toBe("in")
      expect(yield* files.readDirectory(outside)).toEqual(["file"])
    })))
})
