import { describe, expect, it } from "@effect/vitest"
import { Clock, Config, Console, Effect, Fiber, Option, Schedule } from "effect"
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { readdir, rm, stat } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import type { SFTPWrapper } from "ssh2"
import { makeWorld } from "../../../src/sandbox/world.ts"
import { capacity } from "../../../src/services/limits.ts"
import { startBerth } from "../../fixtures/berthProcess.ts"
import { entangledArchives, fullArchives, packArchive, refusedArchives } from "../../fixtures/hostile/archives.ts"
import { fakeSsh } from "../../fixtures/network/fakeSsh.ts"
import { patience } from "../../fixtures/patience.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { requestTo } from "../../sandbox/request.ts"

const mebibyte = 1024 * 1024
const people = ["ann", "vic", "val"] as const
const tokenOf = (name: typeof people[number]) => `token-of-${name}-0123456789`
const roles = { ann: "operator", vic: "viewer", val: "viewer" } as const
const tokens = `http:\n  tokens:\n${
  people.map((name) => `    - { name: ${name}, token: ${tokenOf(name)}, role: ${roles[name]} }\n`).join("")
}`

/** Resident memory of a process in kB. */
const memoryOf = (pid: number) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

/** A service as a process, whose memory is its own, beside the sandbox's server. */
const serviceWith = (servers = "") =>
  Effect.gen(function*() {
    const world = yield* makeWorld
    const text = readFileSync(world.settingsFile, "utf8")
    writeFileSync(
      world.settingsFile,
      `${servers === "" ? text : text.replace("servers:\n", `servers:\n${servers}`)}${tokens}`
    )
    const { pid, url } = yield* startBerth(world.settingsFile)
    const by = (name: typeof people[number]) =>
      requestTo(url, { "content-type": "application/json", authorization: `Bearer ${tokenOf(name)}` })
    const [ann, vic] = [by("ann"), by("vic")]
    yield* Effect.all([vic("GET", "/api/overview"), vic("GET", "/api/health")])
    const atFirst = memoryOf(pid)
    /** The slowest health and the most memory in kB beside an effect. */
    const during = <A, E>(work: Effect.Effect<A, E>) =>
      Effect.gen(function*() {
        const working = yield* Effect.fork(work)
        const times: Array<number> = []
        let growth = 0
        do {
          const before = yield* Clock.currentTimeMillis
          expect((yield* vic("GET", "/api/health")).status).toBe(200)
          times.push((yield* Clock.currentTimeMillis) - before)
          growth = Math.max(growth, memoryOf(pid) - atFirst)
          yield* Effect.sleep("100 millis")
        } while (Option.isNone(yield* Fiber.poll(working)))
        const usual = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0
        return { done: yield* Fiber.join(working), growth, usual, slowest: Math.max(...times) }
      })
    return { world, url, ann, vic, during }
  })

describe.skipIf(!existsSync("/proc/self/status"))("a hostile", () => {
  it.scopedLive(
    "archive of 3 MB, of whatever shape, neither ends nor stops the service, also where four ask for its plan at a time",
    () =>
      Effect.gen(function*() {
        const rounds = yield* Config.withDefault(Config.integer("BERTH_SOAK_ARCHIVES"), 1)
        const { during, vic, world } = yield* serviceWith()
        const projectPath = join(world.projects, "hello")
        const plan = vic("POST", "/api/container/plan", {
          projectPath,
          serverId: world.serverId,
          remotePath: "~/containers/hello"
        })
        const all = [...refusedArchives, ...fullArchives, ...entangledArchives]
        const shapes = inPart(all, all.filter(([shape]) => !/00,00|headers of headers/.test(shape)))
        for (const [shape, build] of Array.from({ length: rounds }, () => shapes).flat()) {
          const bytes = packArchive(build)
          expect([shape, bytes.length < 3 * mebibyte]).toEqual([shape, true])
          writeFileSync(join(projectPath, "hello.tar"), bytes)
          const { done, growth, slowest, usual } = yield* during(
            Effect.all([...Array.from({ length: 4 }, () => plan), vic("GET", "/api/overview")], {
              concurrency: "unbounded"
            })
          )
          yield* Console.log(`${shape}: health within ${usual} ms, at most ${slowest} ms, ${growth} kB more`)
          expect([shape, done.map(({ status }) => status)]).toEqual([shape, done.map(() => 200)])
          expect([shape, growth < 900_000, slowest < 5_000 * patience]).toEqual([shape, true, true])
        }
      }),
    600_000
  )

  it.scopedLive(
    "changelog of 1.9 GB on no disk space is the problem of its project alone",
    () =>
      Effect.gen(function*() {
        const { ann, during, vic, world } = yield* serviceWith()
        const projectPath = join(world.projects, "hello")
        const file = join(projectPath, "platform.changelog.json")
        writeFileSync(file, "[")
        truncateSync(file, 1_900 * mebibyte)
        const { done: [overview, changelog, drift, upsert, plan], growth } = yield* during(Effect.all([
          vic("GET", "/api/overview"),
          vic("GET", `/api/platform/changelog?projectPath=${encodeURIComponent(projectPath)}`),
          vic("POST", "/api/platform/drift", { projectPath }),
          ann("POST", "/api/platform/upsert", { projectPath }),
          vic("POST", "/api/platform/plan", { projectPath })
        ]))
        expect(overview.status).toBe(200)
        expect(overview.body).toMatchObject({
          errors: [],
          projects: expect.arrayContaining([
            expect.objectContaining({ name: "hello" }),
            expect.objectContaining({ name: "notes" })
          ])
        })
        for (const reply of [changelog, upsert]) {
          expect(JSON.stringify(reply.body)).toContain("larger than 16 MiB")
        }
        expect(changelog.status).toBe(422)
        for (const reply of [drift, plan]) expect(reply.status).toBeLessThan(500)
        expect((yield* Effect.promise(() => stat(file))).size).toBe(1_900 * mebibyte)
        expect(growth).toBeLessThan(300_000)
      }),
    240_000 * patience
  )

  it.scopedLive(
    "server that sends without end fills no disk, and is asked for nothing once nobody waits",
    () =>
      Effect.gen(function*() {
        const endless = (size: number) => {
          let bytes = 0
          const serve = (sftp: SFTPWrapper) => {
            const attributes = { mode: 0o100644, uid: 0, gid: 0, size, atime: 0, mtime: 0 }
            for (const asked of ["STAT", "LSTAT", "FSTAT"] as const) {
              sftp.on(asked, (id: number) => sftp.attrs(id, attributes))
            }
            sftp.on("REALPATH", (id, path) => sftp.name(id, [{ filename: path, longname: "", attrs: attributes }]))
            sftp.on("OPEN", (id) => sftp.handle(id, Buffer.from("1")))
            sftp.on("READ", (id, _handle, _offset, length) => {
              bytes += length
              sftp.data(id, Buffer.alloc(length))
            })
            sftp.on("CLOSE", (id) => sftp.status(id, 0))
          }
          return { serve, served: () => bytes }
        }
        const [silent, boasting] = [endless(0), endless(1024 ** 3)]
        const [one, other] = [yield* fakeSsh({ sftp: silent.serve }), yield* fakeSsh({ sftp: boasting.serve })]
        const stored = [["silent", one], ["boasting", other]] as const
        const { ann, during, world } = yield* serviceWith(
          stored.map(([id, { access: { host, port } }]) =>
            `  - { id: ${id}, name: ${id}, host: ${host}, port: ${port}, username: u, password: open sesame }\n`
          ).join("")
        )
        const local = join(world.projects, "pulled")
        mkdirSync(local)
        const pull = (serverId: string, name: string) =>
          ann("POST", "/api/container/pull", {
            serverId,
            files: [{ name, remotePath: `/${name}`, localPath: join(local, name), type: "file" }]
          })
        const { done, growth } = yield* during(pull("silent", "a"))
        expect(JSON.stringify(done.body)).toContain("64 MiB")
        expect(silent.served()).toBeLessThan(capacity.unannounced + 8 * mebibyte)
        expect(yield* Effect.promise(() => readdir(local))).toEqual([])
        expect(growth).toBeLessThan(400_000)

        const pulling = yield* Effect.fork(pull("boasting", "b"))
        yield* Effect.sleep("200 millis").pipe(Effect.repeat({ until: () => boasting.served() > 32 * mebibyte }))
        // Closes the socket of the request, as a caller who leaves.
        yield* Fiber.interrupt(pulling)
        yield* ann("GET", "/api/runs?kind=pull&state=cancelled").pipe(
          Effect.repeat({
            schedule: Schedule.spaced("100 millis"),
            until: ({ body }) => JSON.stringify(body).includes("\"id\"")
          })
        )
        yield* Effect.sleep("500 millis")
        const before = boasting.served()
        yield* Effect.sleep("1 second")
        expect(boasting.served()).toBe(before)
        expect(yield* Effect.promise(() => readdir(local))).toEqual([])
        yield* Effect.promise(() => rm(local, { recursive: true }))
      }),
    240_000 * patience
  )

  it.scopedLive(
    "caller who follows logs on and on takes no place of another one, nor of commands",
    () =>
      Effect.gen(function*() {
        const rounds = yield* Config.withDefault(Config.integer("BERTH_SOAK_FOLLOWERS"), 5)
        const { ann, during, url, world } = yield* serviceWith()
        const path = `/api/servers/${world.serverId}/logs/follow?remotePath=${
          encodeURIComponent("~/containers/greeter")
        }`
        /** Follows logs until the scope closes; the status of the answer. */
        const follow = (name: typeof people[number]) =>
          Effect.acquireRelease(
            Effect.async<{ readonly status: number; readonly close: () => void }>((resume) => {
              const { port } = new URL(url)
              const socket = connect(Number(port), "127.0.0.1", () =>
                socket.write(
                  `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${tokenOf(name)}\r\n\r\n`
                ))
              const close = () => void socket.destroy()
              socket.once(
                "data",
                (bytes) => resume(Effect.succeed({ status: Number(bytes.toString("latin1", 9, 12)), close }))
              )
              socket.on("error", () => resume(Effect.succeed({ status: 0, close })))
            }),
            ({ close }) => Effect.sync(close)
          )
        const statusesOf = (name: typeof people[number], count: number) =>
          Effect.map(
            Effect.forEach(Array.from({ length: count }), () => follow(name), { concurrency: 4 }),
            (all) => all.map(({ status }) => status).sort()
          )
        const { each } = capacity.followers
        for (let round = 0; round < rounds; round++) {
          const { growth } = yield* during(Effect.scoped(Effect.gen(function*() {
            const greedy = yield* statusesOf("vic", each + 12)
            expect([round, greedy]).toEqual([round, [
              ...Array.from({ length: each }, () => 200),
              ...Array.from({ length: 12 }, () => 429)
            ]])
            expect((yield* follow("val")).status).toBe(200)
            const containers = yield* ann("GET", `/api/servers/${world.serverId}/containers`)
            expect(containers.status).toBe(200)
            expect(
              (yield* ann(
                "GET",
                `/api/servers/${world.serverId}/logs?remotePath=${encodeURIComponent("~/containers/greeter")}&lines=1`
              )).status
            ).toBe(200)
          })))
          expect(growth).toBeLessThan(300_000)
          // The server has closed their channels before the next ones come.
          yield* Effect.sleep("3 seconds")
        }
      }),
    240_000 * patience
  )
})
