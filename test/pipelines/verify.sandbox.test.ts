import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { verify } from "../../src/pipelines/verify.ts"
import { HttpsProbe, makeHttpsProbe } from "../../src/services/tls.ts"
import { standInApplication, standInBabbler, standInProxy } from "../fixtures/docker/standInProxy.ts"
import { certificate, hasOpenssl } from "../fixtures/network/certificate.ts"
import { freePort } from "../fixtures/network/freePort.ts"
import { remoteHere, systemShell } from "../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../layers/worlds/memoryWorld.ts"

const domain = "shop.example.com"
const shell = systemShell

const proxyFile = (target: string, host = domain) =>
  `http:
  routers:
    shop:
      rule: "Host(\`${host}\`)"
      service: shop
      tls: {}
    shop-http:
      rule: "Host(\`${host}\`)"
      middlewares:
        - redirect-to-https
      service: shop
  middlewares:
    redirect-to-https:
      redirectScheme: { scheme: https }
  services:
    shop:
      loadBalancer:
        servers:
          - url: "http://${target}"
`

/** Faults on the way to the application. */
interface Way {
  readonly status?: string
  /** Answer of the application; `down`: nothing listens at its port. */
  readonly answer?: number | "down"
  /** Text of the proxy file; `port` is that of the application, `other` that of another one. */
  readonly text?: (port: number, other: number) => string
  readonly certified?: string
  readonly days?: number
  readonly isTrusted?: boolean
  /** Listener at the proxy's HTTPS port. */
  readonly proxy?: "proxy" | "down" | "plain" | "babbling"
  readonly targetIp?: string
  /** Text of the project's container.json. */
  readonly config?: string
  /** The server's note about bridges. */
  readonly noted?: (port: number, other: number, file: string) => string
  readonly world?: MemoryWorld
}

/** Verifies with the real scripts of a server, a proxy that reads the same file, and real TLS. */
const verified = (
  { answer = 200, certified = domain, days = 90, isTrusted = true, proxy = "proxy", ...way }: Way
) =>
  Effect.gen(function*() {
    const { status = "running:healthy", targetIp = "127.0.0.1", text = (port) => proxyFile(`127.0.0.1:${port}`) } = way
    const home = yield* temporaryDirectory
    const port = yield* (answer === "down" ? freePort : standInApplication(answer))
    const other = yield* standInApplication()
    const file = join(home, "dynamic.yml")
    yield* plant(home, { "dynamic.yml": text(port, other) })
    if (way.noted !== undefined) {
      yield* plant(home, { "containers/shop/.berth/bridge": way.noted(port, other, file) })
    }
    const pair = yield* certificate(certified, days)
    const proxies = {
      proxy: standInProxy(file, pair),
      plain: standInApplication(),
      babbling: standInBabbler(pair),
      down: freePort
    }
    const memory = memoryWorld({
      files: {
        ...declaring({ name: "shop", buildpack: "autopack", port, domain }),
        ...(way.config === undefined ? {} : { "/srv/shop/container.json": way.config })
      },
      platform: { applications: [{ name: "shop", status }] },
      ...way.world,
      proxyHost: "127.0.0.1",
      settings: {
        "proxy.configFile": file,
        "proxy.targetIp": targetIp,
        "proxy.httpsPort": yield* proxies[proxy],
        "proxy.server": "1",
        ...way.world?.settings
      }
    })
    const probe = Layer.succeed(HttpsProbe, makeHttpsProbe(isTrusted ? { ca: pair.cert } : {}))
    const result = yield* verify({ projectPath: "/srv/shop" }).pipe(
      Effect.provide(remoteHere({ home, shell })),
      Effect.provide(Layer.mergeAll(memory, probe))
    )
    return { ...result, port }
  })

describe.skipIf(!hasOpenssl)("verify", () => {
  it.scopedLive("passes every hop of what answers", () =>
    Effect.gen(function*() {
      const { failing, hops, port } = yield* verified({})
      expect([failing, hops.map(({ hop, ok }) => [hop, ok])]).toEqual([
        null,
        [["application", true], ["port", true], ["route", true], ["https", true]]
      ])
      const details = hops.map(({ detail }) => detail)
      expect(details[1]).toBe(`127.0.0.1:${port}, seen from "Main", takes connections`)
      expect(details[2]).toMatch(/dynamic\.yml leads shop\.example\.com to 127\.0\.0\.1:\d+$/)
      expect(details[3]).toMatch(/^https:\/\/shop\.example\.com at 127\.0\.0\.1:\d+ answers 200; its certificate is by/)
      expect(details[3]).toMatch(/Test Authority, with (89|90) days left$/)
      expect(hops.map(({ warning }) => warning)).toEqual([undefined, undefined, undefined, undefined])
    }))

  it.scopedLive.each<readonly [says: string, way: Way, failing: ReadonlyArray<string>, detail: RegExp]>([
    [
      "the platform says that it stopped",
      { status: "exited:unhealthy" },
      ["application"],
      /^The platform says: exited/
    ],
    ["the platform says nothing", { status: "" }, ["application"], /does not say whether it runs$/],
    [
      "the platform does not answer",
      { world: { platform: { failing: { applications: 503 } } } },
      ["application"],
      /^Platform API 503/
    ],
    ["the platform has none", { world: { platform: {} } }, ["application"], /has no application named "shop"$/],
    // The proxy cannot reach it either.
    [
      "nothing listens at its port",
      { answer: "down" },
      ["port", "https"],
      /seen from "Main", does not accept connections$/
    ],
    [
      "the file leads to another application",
      { text: (_, other) => proxyFile(`127.0.0.1:${other}`) },
      ["route"],
      /leads shop\.example\.com to 127\.0\.0\.1:\d+, and not to 127\.0\.0\.1:\d+$/
    ],
    [
      "the file has no router for the domain",
      { text: (port) => proxyFile(`127.0.0.1:${port}`, "other.example.com") },
      ["route"],
      /^No router of .*dynamic\.yml is for shop\.example\.com$/
    ],
    [
      "the file is TOML",
      { text: () => "[http.routers]\n" },
      ["route"],
      /^The proxy file .*dynamic\.yml:1 cannot be read: it is TOML, and Berth edits YAML/
    ],
    ["nothing answers HTTPS", { proxy: "down" }, ["https"], /does not answer at 127\.0\.0\.1:\d+: connection refused$/],
    ["what answers is not TLS", { proxy: "plain" }, ["https"], /: what answers there does not speak TLS$/],
    ["what answers is not HTTP", { proxy: "babbling" }, ["https"], /: the answer is not HTTP$/],
    [
      "the certificate is for another name",
      { certified: "other.example.com" },
      ["https"],
      /browsers do not trust it: it is for other\.example\.com$/
    ],
    [
      "the certificate is nobody's",
      { isTrusted: false },
      ["https"],
      /browsers do not trust it: it is signed by itself, and not by an authority$/
    ],
    ["the application breaks", { answer: 500 }, ["https"], /answers 500; its certificate is by Test Authority/]
  ])("tells where the way ends when %s", ([, way, failing, detail]) =>
    Effect.gen(function*() {
      const result = yield* verified(way)
      expect(result.hops.filter(({ ok }) => !ok).map(({ hop }) => hop)).toEqual(failing)
      expect(result.failing).toBe(failing[0])
      expect(result.hops.find(({ hop }) => hop === failing[0])?.detail).toMatch(detail)
    }))

  it.scopedLive.each<readonly [says: string, way: Way, hop: number, warning: RegExp]>([
    ["a certificate that ends soon", { days: 12 }, 3, /^The certificate ends in 1[12] days: make sure that the proxy/],
    [
      "an answer that the proxy may have given",
      { text: (port) => proxyFile(`127.0.0.1:${port}`, "other.example.com") },
      3,
      /^404 is also what a proxy answers for a domain that none of its routers is for$/
    ],
    ["a health check that fails", { status: "running:unhealthy" }, 0, /^Its health check fails, or it has none$/],
    [
      "a router that the proxy leaves out",
      { text: (port) => proxyFile(`127.0.0.1:${port}`).replace(/\n {2}middlewares:\n.*\n.*\n/, "\n") },
      2,
      /^The proxy leaves out a router: shop-http uses redirect-to-https, which the file does not define$/
    ]
  ])("warns of %s, and passes the hop", ([, way, index, warning]) =>
    Effect.gen(function*() {
      const { hops } = yield* verified(way)
      expect(hops[index]?.ok).toBe(true)
      expect(hops[index]?.warning).toMatch(warning)
    }))

  it.scopedLive("tells of the bridge that a route leads to until its run leads it back", () =>
    Effect.gen(function*() {
      const run = "0190aa-run"
      const noted = (port: number, other: number, file: string) =>
        `run\t${run}\nbridge\tweb\tberth-web-bridge-1\t${port}\t${other}\nproxy\t127.0.0.1:22\t127.0.0.1\t${file}\n`
      const text = (_: number, other: number) => proxyFile(`127.0.0.1:${other}`)
      const { hops, port } = yield* verified({ text, noted })
      expect(hops.map(({ ok, warning }) => [ok, warning])).toEqual(hops.map(() => [true, undefined]))
      expect(hops[2]?.detail).toMatch(
        new RegExp(
          `dynamic\\.yml leads shop\\.example\\.com to 127\\.0\\.0\\.1:\\d+, the bridge of run ${run}, whose step return ` +
            `leads it to 127\\.0\\.0\\.1:${port} again$`
        )
      )
      // Of the targets of a project, too.
      const config = JSON.stringify({ targets: [{ server: "away" }, { server: "Main" }] })
      expect((yield* verified({ text, noted, config })).failing).toBeNull()
      // A note about another port, or another file, explains nothing.
      for (const other of [(port: number) => noted(port, 1, "/x"), (port: number) => noted(port + 1, port, "/x")]) {
        expect((yield* verified({ text, noted: other })).failing).toBe("route")
      }
    }))

  it.scopedLive("follows the way to an address of IPv6", () =>
    Effect.gen(function*() {
      const { hops } = yield* verified({
        answer: "down",
        targetIp: "::1",
        text: (port) => proxyFile(`[::1]:${port}`)
      })
      expect(hops[1]?.detail).toMatch(/^\[::1\]:\d+, seen from "Main", does not accept connections$/)
      expect(hops[2]?.detail).toMatch(/leads shop\.example\.com to \[::1\]:\d+$/)
    }))

  it.scopedLive("asks the platform's own host for what that serves itself", () =>
    Effect.gen(function*() {
      const { hops } = yield* verified({
        world: {
          files: declaring({ name: "shop", domain, server: "localhost" }),
          settings: { "gitHost.sshHost": "localhost" },
          platform: { applications: [{ name: "shop", status: "running", fqdn: `https://${domain}` }] }
        }
      })
      expect(hops.map(({ detail }) => detail).slice(1)).toEqual([
        "No port is declared",
        "The platform serves the domain itself: it needs no route",
        expect.stringMatching(/^https:\/\/shop\.example\.com (?:does not answer )?at localhost:\d+/)
      ])
    }))

  it.scopedLive("stops where the platform does not serve the domain that it should serve itself", () =>
    Effect.gen(function*() {
      const { hops } = yield* verified({
        world: { files: declaring({ name: "shop", domain, server: "localhost" }) }
      })
      expect(hops.find(({ hop }) => hop === "route")).toMatchObject({
        ok: false,
        detail: "The platform serves no address, and not https://shop.example.com"
      })
    }))
})
