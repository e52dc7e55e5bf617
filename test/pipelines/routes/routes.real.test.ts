import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, type Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { addRoute, removeRoute } from "../../../src/pipelines/routes/routes.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { LocksLive } from "../../../src/services/locks/Locks.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { leftovers, realSsh, RealSshd, run, type SshUser, type SudoPolicy } from "../../fixtures/network/openssh.ts"
import { patience } from "../../fixtures/patience.ts"
import { rootsDirectory, rootsPrograms } from "../../fixtures/programs/rootsPrograms.ts"
import { eventually } from "../../sandbox/eventually.ts"
import { liveSsh } from "../../services/ssh/live.ts"
import { plainFile } from "./proxyFiles.ts"

/** A Berth of its own: its connections, locks and settings are shared with nobody. */
const berth = (file: string, server: ServerAccess) =>
  Layer.mergeAll(
    liveSsh(),
    Layer.fresh(LocksLive),
    settingsTest({ "proxy.configFile": file, "proxy.targetIp": "10.0.0.5" }, [server])
  )

const proxyFile = (text: string | Uint8Array = plainFile, options: { readonly directory?: string } = {}) =>
  Effect.gen(function*() {
    const file = join(options.directory ?? (yield* rootsDirectory), "berth.yml")
    yield* Effect.promise(() => writeFile(file, text, { mode: 0o600 }))
    return file
  })

const read = (file: string) => Effect.promise(() => readFile(file, "utf8"))
const servicesOf = (text: string): ReadonlyArray<string> => Object.keys(parse(text).http.services)
const app = { routeName: "app", domain: "app.example.com", port: 2007 }
const numbered = (prefix: string, count = 12) =>
  Array.from({ length: count }, (_, index) => ({
    routeName: `${prefix}${index}`,
    domain: `${prefix}${index}.example.com`,
    port: 3000 + index
  }))

/** A `tee` that pauses in the middle of the proxy file, reports it, and resumes on a signal. */
const slowTee = (directory: string) =>
  `case $1 in
    *.berth-bak) exec cat >"$1" ;;
    *) head -c 100 >"$1"; : >'${directory}/half'; while [ ! -e '${directory}/go' ]; do sleep 0.05; done; exec cat >>"$1" ;;
  esac`

const exists = (file: string) => Effect.promise(() => stat(file).then(() => true, () => false))

/** Kills the process that serves a user's connection, as a pulled cable would end it. */
const breakConnection = (user: SshUser) =>
  Effect.gen(function*() {
    const serving = yield* Effect.orDie(run("pgrep", ["-u", user.name, "-x", "sshd"]))
    for (const each of serving.trim().split("\n")) {
      yield* Effect.ignore(Effect.try(() => process.kill(Number(each), "SIGKILL")))
    }
  })

/** Keeps the lock of proxy files for as long as it is wanted. */
const lockHeld: Effect.Effect<{ readonly release: Effect.Effect<void> }, never, Scope.Scope> = Effect.acquireRelease(
  Effect.async<{ readonly release: Effect.Effect<void> }>((resume) => {
    const holder = spawn("sh", ["-c", "exec 9</; flock -x 9; echo held; exec sleep 60"])
    holder.stdout.once("data", () => resume(Effect.succeed({ release: Effect.sync(() => holder.kill("SIGKILL")) })))
  }),
  ({ release }) => release
)

/** A small file system of its own. */
const smallDisk = Effect.acquireRelease(
  Effect.gen(function*() {
    const directory = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "berth-disk-")))
    yield* Effect.orDie(run("mount", ["-t", "tmpfs", "-o", "size=32k,mode=700", "tmpfs", directory]))
    return directory
  }),
  (directory) =>
    Effect.zipRight(
      Effect.ignore(run("umount", [directory])),
      Effect.promise(() => rm(directory, { recursive: true, force: true }))
    )
)

describe.skipIf(!realSsh.available)(realSsh.title("routes on a real server"), () => {
  layer(RealSshd.layer(), { excludeTestServices: true })((it) => {
    it.scoped.each<SudoPolicy>(["nopasswd", "password", "cached", "lecture"])(
      "are added and removed under sudo's policy %s",
      (policy) =>
        Effect.gen(function*() {
          const user = yield* (yield* RealSshd).makeUser({ sudo: policy })
          const file = yield* proxyFile()
          yield* Effect.gen(function*() {
            expect(yield* addRoute(app)).toEqual({ added: true })
            expect(servicesOf(yield* read(file))).toEqual(["blog", "app"])
            expect(yield* addRoute(app)).toEqual({ added: false, reason: "route_exists" })
            expect(yield* Effect.flip(addRoute({ ...app, port: 2008 }))).toMatchObject({
              _tag: "RouteTaken",
              status: 409
            })
            expect(yield* removeRoute({ routeName: "app" })).toEqual({ removed: true, routeName: "app" })
            expect(yield* read(file)).toBe(plainFile)
            expect(yield* removeRoute({ routeName: "app" })).toEqual({ removed: false, reason: "route_not_found" })
          }).pipe(Effect.provide(berth(file, user.access())))
          const { gid, mode, uid } = yield* Effect.promise(() => stat(file))
          expect([uid, gid, mode & 0o777]).toEqual([0, 0, 0o600])
          expect((yield* Effect.promise(() => stat(`${file}.berth-bak`))).mode & 0o777).toBe(0o600)
          expect(yield* leftovers(user)).toEqual([])
        })
    )

    it.scoped("keep a byte order mark, CRLF, other alphabets and a missing final newline", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const text = `\uFEFF# Ünïcode 😀\r\n${plainFile.replaceAll("\n", "\r\n").trimEnd()}`
        const file = yield* proxyFile(text)
        yield* Effect.zipRight(addRoute(app), removeRoute(app)).pipe(Effect.provide(berth(file, user.access())))
        expect(yield* read(file)).toBe(text)
      }))

    it.scoped("leave a file alone that is not valid UTF-8, is broken, or is not there", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "nopasswd" })
        const latin = Buffer.from(plainFile.replace("too", "t\u00f6\u00f6"), "latin1")
        const file = yield* proxyFile(latin)
        expect(yield* Effect.flip(addRoute(app)).pipe(Effect.provide(berth(file, user.access())))).toMatchObject({
          _tag: "ProxyFileUnfit",
          reason: "it is not valid UTF-8"
        })
        expect((yield* Effect.promise(() => readFile(file))).equals(latin)).toBe(true)
        const broken = yield* proxyFile("http:\n  routers:\n  services:\n    a: *b\n")
        const refusal = yield* Effect.flip(addRoute(app)).pipe(Effect.provide(berth(broken, user.access())))
        expect(refusal.message).toContain(`${broken}:4 on "Test" was left as it is`)
        const gone = yield* Effect.flip(addRoute(app)).pipe(Effect.provide(berth(`${file}.none`, user.access())))
        expect(gone).toMatchObject({ _tag: "ProxyFileUnreadable", status: 502 })
        expect(gone.message).toContain("No such file")
        expect(yield* leftovers(user)).toEqual([])
      }))

    it.scoped("stay as they are when sudo refuses", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const file = yield* proxyFile()
        const user = yield* sshd.makeUser({ sudo: "password" })
        const outsider = yield* sshd.makeUser()
        const wrong = user.access({ password: Redacted.make(user.password), sudoPassword: Redacted.make("wrong") })
        for (const server of [wrong, outsider.access()]) {
          const refusal = yield* Effect.flip(addRoute(app)).pipe(Effect.provide(berth(file, server)))
          expect(refusal).toMatchObject({ _tag: "SudoRefused", status: 502 })
        }
        expect(yield* read(file)).toBe(plainFile)
        expect(yield* exists(`${file}.berth-bak`)).toBe(false)
        expect([...yield* leftovers(user), ...yield* leftovers(outsider)]).toEqual([])
      }))

    it.scoped("need no more of sudo than to read and write the file and its copy", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser()
        const file = yield* proxyFile()
        const sudoers = `/etc/sudoers.d/${user.name}`
        const allowed = [file, `${file}.berth-bak`].flatMap((each) => [`/usr/bin/cat ${each}`, `/usr/bin/tee ${each}`])
        yield* Effect.acquireRelease(
          Effect.promise(() =>
            writeFile(sudoers, `${user.name} ALL=(root) NOPASSWD: ${allowed.join(", ")}\n`, { mode: 0o440 })
          ),
          () => Effect.promise(() => rm(sudoers, { force: true }))
        )
        // Two at once, so that one finds the file changed.
        const adding = (prefix: string) =>
          Effect.forEach(numbered(prefix, 3), addRoute, { concurrency: "unbounded" }).pipe(
            Effect.provide(berth(file, user.access()))
          )
        yield* Effect.all([adding("a"), adding("b")], { concurrency: "unbounded" })
        expect(servicesOf(yield* read(file)).toSorted()).toEqual(["a0", "a1", "a2", "b0", "b1", "b2", "blog"])
      }))

    it.scoped("all land when twelve are added at once", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const file = yield* proxyFile()
        const routes = numbered("app")
        yield* Effect.forEach(routes, addRoute, { concurrency: "unbounded" }).pipe(
          Effect.provide(berth(file, user.access()))
        )
        expect(servicesOf(yield* read(file)).toSorted()).toEqual(
          ["blog", ...routes.map((each) => each.routeName)].toSorted()
        )
        expect(yield* leftovers(user)).toEqual([])
      }))

    it.scoped("all land when two Berths with two users add them at once", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const one = yield* sshd.makeUser({ sudo: "nopasswd" })
        const other = yield* sshd.makeUser({ sudo: "nopasswd" })
        const file = yield* proxyFile()
        const adding = (user: SshUser, prefix: string) =>
          Effect.forEach(numbered(prefix, 8), addRoute, { concurrency: "unbounded" }).pipe(
            Effect.provide(berth(file, user.access()))
          )
        yield* Effect.all([adding(one, "a"), adding(other, "b")], { concurrency: "unbounded" })
        expect(servicesOf(yield* read(file)).toSorted()).toEqual(
          ["blog", ...[...numbered("a", 8), ...numbered("b", 8)].map((each) => each.routeName)].toSorted()
        )
        expect([...yield* leftovers(one), ...yield* leftovers(other)]).toEqual([])
      }), 60_000 * patience)

    it.scoped("are written into a bind-mounted file in place", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "nopasswd" })
        const file = yield* proxyFile()
        const mounted = join(yield* rootsDirectory, "inside.yml")
        yield* Effect.promise(() => writeFile(mounted, ""))
        yield* Effect.acquireRelease(
          Effect.orDie(run("mount", ["--bind", file, mounted])),
          () => Effect.ignore(run("umount", [mounted]))
        )
        const { ino } = yield* Effect.promise(() => stat(file))
        yield* addRoute(app).pipe(Effect.provide(berth(file, user.access())))
        expect((yield* Effect.promise(() => stat(file))).ino).toBe(ino)
        expect(servicesOf(yield* read(mounted))).toEqual(["blog", "app"])
        yield* removeRoute(app).pipe(Effect.provide(berth(mounted, user.access())))
        expect(yield* read(file)).toBe(plainFile)
      }))

    it.scoped("do not get lost on a full disk", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "nopasswd" })
        const directory = yield* smallDisk
        // A page of a file and a page of its copy; the new text needs a second page.
        const text = `${plainFile}#${" ".repeat(4_000 - plainFile.length)}\n`
        const file = yield* proxyFile(text, { directory })
        yield* Effect.promise(() => writeFile(`${file}.berth-bak`, "older"))
        yield* Effect.ignore(run("dd", ["if=/dev/zero", `of=${directory}/filler`, "bs=4096"]))
        const berthHere = berth(file, user.access())
        const failure = yield* Effect.flip(addRoute(app)).pipe(Effect.provide(berthHere))
        expect(failure).toMatchObject({ _tag: "ProxyFileNotWritten", status: 502 })
        expect(failure.message).toMatch(/No space left on device.*It holds again what it held before/s)
        expect([yield* read(file), yield* read(`${file}.berth-bak`)]).toEqual([text, text])

        yield* Effect.promise(() => rm(`${file}.berth-bak`))
        yield* Effect.ignore(run("dd", ["if=/dev/zero", `of=${directory}/filler2`, "bs=4096"]))
        const refusal = yield* Effect.flip(addRoute(app)).pipe(Effect.provide(berthHere))
        expect(refusal.message).toMatch(/No space left on device.*It was not touched/s)
        expect(yield* read(file)).toBe(text)
        expect(yield* leftovers(user)).toEqual([])

        yield* Effect.promise(() => rm(join(directory, "filler")))
        expect(yield* addRoute(app).pipe(Effect.provide(berthHere))).toEqual({ added: true })
      }))

    it.scoped("are whole when the connection breaks in the middle of a write", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const file = yield* proxyFile()
        const directory = yield* rootsDirectory
        yield* rootsPrograms(user, { tee: slowTee(directory) })
        const failure = yield* Effect.gen(function*() {
          const adding = yield* Effect.fork(Effect.flip(addRoute(app)))
          yield* eventually(exists(join(directory, "half")))
          expect((yield* read(file)).length).toBe(100)
          yield* breakConnection(user)
          yield* Effect.promise(() => writeFile(join(directory, "go"), ""))
          return yield* Fiber.join(adding)
        }).pipe(Effect.provide(berth(file, user.access())))
        expect(failure.message).toMatch(/ was lost: .* the whole new text$/)
        yield* eventually(Effect.map(read(file), (text) => text.length > plainFile.length))
        expect(servicesOf(yield* read(file))).toEqual(["blog", "app"])
        yield* eventually(Effect.map(leftovers(user), (names) => names.length === 0))
      }))

    it.scoped("are whole when the commands of the user are told to end in the middle of a write", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "password" })
        const file = yield* proxyFile()
        const directory = yield* rootsDirectory
        yield* rootsPrograms(user, { tee: slowTee(directory) })
        yield* Effect.gen(function*() {
          const adding = yield* Effect.fork(addRoute(app))
          yield* eventually(exists(join(directory, "half")))
          for (const signal of ["-HUP", "-INT", "-TERM"]) {
            yield* Effect.ignore(run("pkill", [signal, "-u", user.name, "-x", "sh"]))
          }
          yield* Effect.promise(() => writeFile(join(directory, "go"), ""))
          // The user's log-in shell ends; what it had started goes on.
          yield* Effect.exit(Fiber.join(adding))
          expect(yield* addRoute(app)).toEqual({ added: false, reason: "route_exists" })
        }).pipe(Effect.provide(berth(file, user.access())))
        expect(servicesOf(yield* read(file))).toEqual(["blog", "app"])
        expect(yield* leftovers(user)).toEqual([])
      }))

    it.scoped("are written to the end for a caller who goes away", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "nopasswd" })
        const file = yield* proxyFile()
        const directory = yield* rootsDirectory
        yield* rootsPrograms(user, { tee: slowTee(directory) })
        yield* Effect.gen(function*() {
          const adding = yield* Effect.fork(addRoute(app))
          yield* eventually(exists(join(directory, "half")))
          const leaving = yield* Effect.fork(Fiber.interrupt(adding))
          yield* Effect.promise(() => writeFile(join(directory, "go"), ""))
          yield* Fiber.join(leaving)
          expect(servicesOf(yield* read(file))).toEqual(["blog", "app"])
        }).pipe(Effect.provide(berth(file, user.access())))
        expect(yield* leftovers(user)).toEqual([])
      }))

    it.scoped("are not written by a command whose caller went away while it waited", () =>
      Effect.gen(function*() {
        const user = yield* (yield* RealSshd).makeUser({ sudo: "nopasswd" })
        const file = yield* proxyFile()
        const isWriting = Effect.isSuccess(run("pgrep", ["-u", user.name, "-f", "berth-bak"]))
        const failure = yield* Effect.gen(function*() {
          const cat = yield* rootsPrograms(user, {
            cat:
              "/bin/cat \"$@\"; : >\"$(dirname \"$0\")/read\"; while [ -e \"$(dirname \"$0\")/wait\" ]; do sleep 0.02; done"
          })
          yield* Effect.promise(() => writeFile(join(cat, "wait"), ""))
          const adding = yield* Effect.fork(Effect.flip(addRoute(app)))
          yield* eventually(exists(join(cat, "read")))
          // The file is read; a reader that is about to end still has the lock.
          const holding = yield* Effect.fork(lockHeld)
          yield* Effect.promise(() => rm(join(cat, "wait")))
          const lock = yield* Fiber.join(holding)
          yield* eventually(isWriting)
          yield* breakConnection(user)
          yield* eventually(Effect.map(isWriting, (still) => !still))
          yield* lock.release
          return yield* Fiber.join(adding)
        }).pipe(Effect.provide(berth(file, user.access())))
        expect(failure.message).toMatch(/ was lost: .* the whole new text$/)
        yield* eventually(Effect.map(leftovers(user), (names) => names.length === 0))
        expect(yield* read(file)).toBe(plainFile)
      }))
  })
})
