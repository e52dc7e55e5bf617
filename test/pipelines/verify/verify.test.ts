import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createServer } from "node:tls"
import { verify } from "../../../src/pipelines/verify/verify.ts"
import { HttpsProbe } from "../../../src/services/tls/HttpsProbe.ts"
import { httpsProbe } from "../../../src/services/tls/HttpsProbeLive.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../layers/memoryWorld.ts"
import { SshTest } from "../../layers/SshTest.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const domain = "shop.example.com"
const entry = { name: "shop", buildpack: "autopack", port: 2010, domain }
const proxyFile = (target: string) =>
  `http:
  routers:
    shop:
      rule: "Host(\`${domain}\`)"
      service: shop
  services:
    shop:
      loadBalancer:
        servers:
          - url: "http://${target}"
`
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

/** A real server with a certificate of its own making. */
const tlsServer = (certified: string, answer: string) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
    spawnSync("openssl", [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "30",
      "-subj",
      "/O=Test Authority",
      "-addext",
      `subjectAltName=DNS:${certified}`,
      "-keyout",
      key,
      "-out",
      cert
    ])
    const ca = readFileSync(cert, "utf8")
    const port = yield* Effect.acquireRelease(
      Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
        const server = createServer({ key: readFileSync(key), cert: ca }, (socket) => {
          socket.on("error", () => undefined)
          socket.once("data", () => socket.end(answer))
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = address !== null && typeof address === "object" ? address.port : 0
          resume(Effect.succeed({ port, close: () => server.close() }))
        })
      }),
      ({ close }) => Effect.sync(close)
    )
    return { ca, port: port.port }
  })

interface Way {
  readonly status?: string
  readonly portCode?: number
  readonly target?: string
  readonly certified?: string
  readonly answer?: string
  readonly world?: MemoryWorld
}

const verified = (
  { answer = "HTTP/1.1 200 OK\r\n\r\n", certified = domain, portCode = 0, status = "running:healthy", target, world }:
    Way
) =>
  Effect.gen(function*() {
    const { ca, port } = yield* tlsServer(certified, answer)
    const probe = Layer.succeed(HttpsProbe, {
      ask: (question) => httpsProbe({ ca }).ask({ ...question, address: "127.0.0.1", port })
    })
    const ssh = SshTest({
      "reading /etc/proxy/dynamic.yml": { stdout: proxyFile(target ?? "192.168.1.20:2010") },
      "connecting to 192.168.1.20:2010": { code: portCode }
    })
    const memory = memoryWorld({
      files: declaring(entry),
      platform: { applications: [{ name: "shop", status }] },
      ...world
    })
    return yield* verify({ projectPath: "/srv/shop" }).pipe(
      Effect.provide(ssh),
      Effect.provide(Layer.mergeAll(memory, probe))
    )
  })

describe.skipIf(!hasOpenssl)("verify", () => {
  it.scopedLive("passes every hop of what answers", () =>
    Effect.gen(function*() {
      const { failing, hops } = yield* verified({})
      expect([failing, hops.map(({ hop, ok }) => [hop, ok])]).toEqual([
        null,
        [["application", true], ["port", true], ["route", true], ["https", true]]
      ])
      expect(hops[3]?.detail).toMatch(/answers 200; its certificate is by Test Authority, with (29|30) days left$/)
    }))

  it.scopedLive.each<readonly [failing: string, way: Way, detail: string]>([
    ["application", { status: "exited:unhealthy" }, "exited:unhealthy"],
    ["port", { portCode: 1 }, "takes no connection"],
    ["port", { portCode: 2 }, "cannot be told"],
    ["route", { target: "192.168.1.20:2011" }, "192.168.1.20:2011, and not to 192.168.1.20:2010"],
    ["https", { certified: "other.example.com" }, "browsers do not trust it"],
    ["https", { answer: "HTTP/1.1 502 Bad Gateway\r\n\r\n" }, "answers 502"],
    ["https", { answer: "no\r\n" }, "the answer is not HTTP"]
  ])("tells that %s fails, and reports the others: %j", ([failing, way, detail]) =>
    Effect.gen(function*() {
      const result = yield* verified(way)
      expect(result.failing).toBe(failing)
      expect(result.hops.filter(({ ok }) => !ok).map(({ hop }) => hop)).toEqual([failing])
      expect(result.hops.find(({ hop }) => hop === failing)?.detail).toContain(detail)
    }))
})
