import { HttpServer } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Redacted, Schedule, Scope } from "effect"
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer, type Server } from "node:http"
import { networkInterfaces } from "node:os"
import { dirname, join } from "node:path"
import { formatBaseUrl, formatLocalUrl, listen, RecordAddress } from "../../../src/http/listen.ts"
import { Http } from "../../../src/http/server.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { servicesLive } from "../../../src/services/ServicesLive.ts"
import { findService, isOfThisMachine, type LiveService } from "../../../src/services/state/discovery.ts"
import { patience } from "../../fixtures/patience.ts"
import { settingsFileWith } from "../../fixtures/programs/service.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { requestTo } from "../../sandbox/request.ts"

const local = LocalFilesLive.pipe(Layer.provideMerge(NodeContext.layer))
const find = (settingsFile: string) => Effect.provide(findService(settingsFile), local)
const portOf = (server: Server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}
const fileOf = (settingsFile: string) => join(dirname(settingsFile), "berth.service")

/** Starts a service whose record is beside the settings, until it is stopped. */
const start = (settingsFile: string) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const services = Layer.provide(servicesLive(settingsFile), NodeContext.layer)
    const http = Layer.merge(Http, Layer.provide(RecordAddress, NodeContext.layer))
    const context = yield* Layer.buildWithScope(
      Layer.fresh(listen(http, services, { host: "127.0.0.1", port: 0 })),
      scope
    )
    return {
      url: formatBaseUrl(Context.get(context, HttpServer.HttpServer).address),
      end: Scope.close(scope, Exit.void)
    }
  })

const found = (settingsFile: string, fits: (service: LiveService) => boolean = () => true) =>
  Effect.flatMap(find(settingsFile), Option.filter(fits)).pipe(
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 }),
    Effect.orDie
  )
const status = ({ address, token }: LiveService, value = Redacted.value(token)) =>
  Effect.map(requestTo(address, { authorization: `Bearer ${value}` })("GET", "/api/servers"), ({ status }) => status)

describe("what a service leaves beside its settings", () => {
  it.scopedLive("leads its user's programs to it, with a token that lets them in, until it ends", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("http:\n  token: open-sesame\n")
      expect(yield* find(file)).toEqual(Option.none())
      const service = yield* start(file)
      const left = yield* found(file)
      expect(left).toMatchObject({ address: service.url, pid: process.pid })
      if (process.platform !== "win32") expect(statSync(fileOf(file)).mode & 0o777).toBe(0o600)
      expect([yield* status(left), yield* status(left, "other"), yield* status(left, "open-sesame")])
        .toEqual([200, 401, 200])
      yield* service.end
      expect(existsSync(fileOf(file))).toBe(false)
    }))

  it.scopedLive(
    "is written in a directory that does not exist yet, and again when it is removed",
    () =>
      Effect.gen(function*() {
        const file = join(dirname(yield* settingsFileWith("")), "new", "berth", "berth.yaml")
        const service = yield* start(file)
        expect((yield* found(file)).address).toBe(service.url)
        if (process.platform !== "win32") expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
        const places = [fileOf(file), dirname(file), dirname(dirname(file))]
        for (const removed of inPart(places, [dirname(dirname(file))])) {
          rmSync(removed, { recursive: true })
          expect((yield* found(file)).address).toBe(service.url)
        }
        if (process.platform !== "win32") expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
        yield* service.end
        expect(existsSync(fileOf(file))).toBe(false)
      }),
    30_000 * patience
  )

  it.scopedLive("is tried again while something is in its way", () =>
    Effect.gen(function*() {
      const file = join(dirname(yield* settingsFileWith("")), "new", "berth.yaml")
      // A file in the place of the directory: unlike missing permissions, it hinders root too.
      writeFileSync(dirname(file), "")
      const service = yield* start(file)
      yield* Effect.sleep("300 millis")
      expect(yield* find(file)).toEqual(Option.none())
      rmSync(dirname(file))
      expect((yield* found(file)).address).toBe(service.url)
      yield* service.end
    }), 30_000 * patience)

  it.scopedLive("is found by the note beside the store of runs too", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      const service = yield* start(file)
      yield* found(file)
      expect((yield* Effect.promise(() => fetch(`${service.url}/api/runs`))).status).toBe(200)
      const { address, token } = yield* found(file)
      // Another program's file keeps the service from writing its record.
      rmSync(fileOf(file))
      mkdirSync(fileOf(file))
      const other = yield* found(file)
      expect([other.address, Redacted.value(other.token)]).toEqual([address, Redacted.value(token)])
      expect(statSync(join(dirname(file), "berth.db.holder")).mode & 0o777).toBe(0o600)
      yield* service.end
      expect(yield* find(file)).toEqual(Option.none())
    }), 30_000 * patience)

  it.scopedLive("stays the first one's while that runs, and is the other's then", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      const first = yield* start(file)
      yield* found(file)
      const second = yield* start(file)
      yield* Effect.sleep("200 millis")
      expect((yield* found(file)).address).toBe(first.url)
      yield* first.end
      yield* found(file, ({ address }) => address === second.url)
      yield* second.end
      expect(existsSync(fileOf(file))).toBe(false)
    }), 20_000)

  it.scopedLive("is not believed when its process is gone, nobody answers, or it is not such a record", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      const service = yield* start(file)
      const { address } = yield* found(file)
      const left = JSON.parse(readFileSync(fileOf(file), "utf8"))
      // Beside settings without a store, whose note would lead to the service too.
      const beside = yield* settingsFileWith("")
      writeFileSync(fileOf(beside), JSON.stringify(left), { mode: 0o600 })
      expect(Option.isSome(yield* find(beside))).toBe(true)
      const { pid: dead } = spawnSync(process.execPath, ["--version"])
      for (
        const stale of [
          { ...left, pid: dead },
          { ...left, address: "http://127.0.0.1:1" },
          { ...left, pid: -1 },
          { ...left, token: "" },
          { address }
        ]
      ) {
        writeFileSync(fileOf(beside), JSON.stringify(stale))
        expect([stale, yield* find(beside)]).toEqual([stale, Option.none()])
      }
      for (const text of ["", "{", "x".repeat(20_000)]) {
        writeFileSync(fileOf(beside), text)
        expect(yield* find(beside)).toEqual(Option.none())
      }
      writeFileSync(fileOf(file), "{")
      yield* service.end
      // It leaves the record of another service alone.
      expect(existsSync(fileOf(file))).toBe(true)
    }))

  it.scopedLive("is not believed, nor shown its token, where another program has its port by now", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      const other = yield* settingsFileWith("")
      const service = yield* start(file)
      const left = yield* found(file)
      const { url: elsewhere, end } = yield* start(other)
      const seen: Array<string | undefined> = []
      const answersWith = (headers: Readonly<Record<string, string>>) =>
        Effect.acquireRelease(
          Effect.promise(() =>
            new Promise<Server>((resolve) => {
              const server = createServer(({ headers: { authorization } }, response) => {
                seen.push(authorization)
                response.writeHead(200, { "content-type": "application/json", ...headers }).end("{\"status\":\"ok\"}")
              })
              server.listen(0, "127.0.0.1", () => resolve(server))
            })
          ),
          (server) => Effect.sync(() => server.close())
        ).pipe(
          Effect.map((server) => formatBaseUrl({ _tag: "TcpAddress", hostname: "127.0.0.1", port: portOf(server) }))
        )
      const earlier = yield* Effect.promise(() =>
        fetch(`${left.address}/api/health`, { headers: { "berth-challenge": "a".repeat(43) } })
      )
      const proof = earlier.headers.get("berth-proof") ?? ""
      expect(proof).toHaveLength(43)
      const imposters = [elsewhere, yield* answersWith({}), yield* answersWith({ "berth-proof": proof })]
      const record = JSON.parse(readFileSync(fileOf(file), "utf8"))
      for (const address of imposters) {
        writeFileSync(fileOf(file), JSON.stringify({ ...record, address }))
        // The service itself is found by its note beside the store, if that is open by then.
        const believed = Option.filter(yield* find(file), (service) => service.address === address)
        expect([address, believed]).toEqual([address, Option.none()])
      }
      expect(seen).toEqual([undefined, undefined])
      writeFileSync(fileOf(file), JSON.stringify(record))
      expect(Option.isSome(yield* find(file))).toBe(true)
      yield* end
      yield* service.end
    }))

  it.scopedLive.skipIf(process.platform === "win32")(
    "is not believed where others may have written it, or may have read its token",
    () =>
      Effect.gen(function*() {
        const file = yield* settingsFileWith("")
        const service = yield* start(file)
        yield* found(file)
        // A copy, which the service does not put right.
        const copied = yield* settingsFileWith("")
        const left = fileOf(copied)
        writeFileSync(left, readFileSync(fileOf(file)), { mode: 0o600 })
        for (const mode of [0o604, 0o620, 0o602, 0o640, 0o666]) {
          chmodSync(left, mode)
          expect([mode, yield* find(copied)]).toEqual([mode, Option.none()])
        }
        chmodSync(left, 0o600)
        expect(Option.isSome(yield* find(copied))).toBe(true)
        if (process.geteuid?.() === 0) {
          chownSync(left, 65_534, 65_534)
          expect(yield* find(copied)).toEqual(Option.none())
          chownSync(left, 0, 0)
        }
        renameSync(left, `${left}.moved`)
        symlinkSync(`${left}.moved`, left)
        expect(yield* find(copied)).toEqual(Option.none())
        yield* service.end
      })
  )

  it.scopedLive.skipIf(process.platform === "win32")("is not written through a link", () =>
    Effect.gen(function*() {
      const file = yield* settingsFileWith("")
      writeFileSync(`${file}.other`, "mine")
      symlinkSync(`${file}.other`, fileOf(file))
      const service = yield* start(file)
      yield* found(file)
      expect(readFileSync(`${file}.other`, "utf8")).toBe("mine")
      yield* service.end
    }))

  it("leads to this machine alone", () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []).map(({ address, family }) =>
      family === "IPv6" ? `[${address}]` : address
    )
    const here = ["127.0.0.1", "127.1.2.3", "[::1]", ...own.filter((one) => !one.startsWith("[fe80"))]
    for (const host of here) expect([host, isOfThisMachine(`http://${host}:3100`)]).toEqual([host, true])
    const elsewhere = [
      "http://203.0.113.9:3100",
      "http://127.0.0.1.example.com",
      "http://127.0.0.1@203.0.113.9",
      "http://[2001:db8::1]:1",
      "https://127.0.0.1",
      "file:///127.0.0.1",
      "127.0.0.1:3100",
      ""
    ]
    for (const address of elsewhere) expect([address, isOfThisMachine(address)]).toEqual([address, false])
  })

  it("says where it is reached from its own machine", () => {
    const at = (hostname: string) => formatLocalUrl({ _tag: "TcpAddress", hostname, port: 3100 })
    expect([at("0.0.0.0"), at("::"), at("::1"), at("10.0.0.5")])
      .toEqual(["http://127.0.0.1:3100", "http://[::1]:3100", "http://[::1]:3100", "http://10.0.0.5:3100"])
  })
})
