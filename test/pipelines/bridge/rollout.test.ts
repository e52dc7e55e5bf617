import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { PlatformAddresses } from "../../../src/pipelines/bridge/readPlatformAddresses.ts"
import { decideBridgedRollouts } from "../../../src/pipelines/bridge/rollout.ts"
import { parsePreflight } from "../../../src/remote/deploy.ts"
import { type SettingsFixture, settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { proxyFileTest } from "../../../src/testing/SshTest.ts"

const file = "/etc/proxy/dynamic.yml"
const server = storedServer({ host: "main.example.com" })
const compose = ["services:", "  web:", "    image: shop", "    ports: [\"2008:8080\"]"]

const text = `http:
  routers: { app: { rule: "Host(\`app.lan\`)", service: app } }
  services:
    app:
      loadBalancer:
        servers:
          - url: http://10.0.0.5:2008
`

/** Judges a service whose route leads to 10.0.0.5, on a server with these addresses. */
const judged = (
  addresses: ReadonlyArray<string>,
  others: ReadonlyArray<string> = [],
  settings: SettingsFixture = {},
  platform: Effect.Effect<PlatformAddresses> = Effect.die("the platform is not asked")
) => {
  const facts = parsePreflight([
    ...compose.map((line) => `composefile1\t${line}`),
    ...addresses.map((address) => `address\t${address}`),
    "stack\tid|image|true||web"
  ].join("\n"))
  const servers = [server, ...others.map((host) => storedServer({ id: host, name: host, host }))]
  return decideBridgedRollouts(server, ["web"], {
    here: { compose: compose.join("\n"), env: "" },
    services: [{ name: "web", change: "recreate" }],
    facts
  }, platform).pipe(
    Effect.map(([rollout]) => rollout),
    Effect.provide(Layer.merge(
      proxyFileTest(file, text),
      settingsTest({ "proxy.configFile": file, "proxy.server": "1", ...settings }, servers)
    ))
  )
}

const nobody = Effect.succeed({ addresses: [], problem: "" })

const bridged = {
  rollout: "bridged",
  routes: [{ host: "app.lan", routeName: "app", file }],
  bridged: { hosts: ["10.0.0.5"], port: 2008 }
}

describe("a route leads to a server", () => {
  it.effect("by an address of its own, whatever it is reached by", () =>
    Effect.gen(function*() {
      expect(yield* judged(["fd00::5", "10.0.0.5"])).toMatchObject(bridged)
      expect(yield* judged(["10.0.0.6"], [], {}, nobody)).toMatchObject({
        rollout: "recreate",
        reason: `no route in ${file} leads to port 2008 of main.example.com or 10.0.0.6`
      })
    }))

  it.effect("by proxy.targetIp", () =>
    Effect.gen(function*() {
      expect(yield* judged([], [], { "proxy.targetIp": "10.0.0.5" })).toMatchObject(bridged)
    }))

  it.effect("but not by an address that another stored server is reached by", () =>
    Effect.gen(function*() {
      expect(yield* judged(["10.0.0.5"], ["10.0.0.5"], {}, nobody)).toMatchObject({ rollout: "recreate" })
      const asPlatform = Effect.succeed({ addresses: ["10.0.0.5"], problem: "" })
      expect(yield* judged([], ["10.0.0.5"], {}, asPlatform)).toMatchObject({ rollout: "recreate" })
    }))

  it.effect("by the address that the platform has for the server of its application", () =>
    Effect.gen(function*() {
      const known = Effect.succeed({ addresses: ["10.0.0.5"], problem: "" })
      expect(yield* judged([], [], {}, known)).toMatchObject(bridged)
      const away = Effect.succeed({
        addresses: [],
        problem: "the address of the platform's server \"web\" is not known"
      })
      expect(yield* judged([], [], {}, away)).toMatchObject({
        rollout: "recreate",
        reason:
          `no route in ${file} leads to port 2008 of main.example.com, and the address of the platform's server ` +
          "\"web\" is not known"
      })
    }))
})
