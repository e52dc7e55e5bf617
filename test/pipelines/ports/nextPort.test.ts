import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { nextPort } from "../../../src/pipelines/ports.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { platformTest, type PlatformTestOptions } from "../../../src/testing/PlatformTest.ts"
import { type SettingsFixture, settingsTest } from "../../../src/testing/SettingsTest.ts"
import { proxyFileTest } from "../../../src/testing/SshTest.ts"

const server = { id: "1", name: "Main", host: "10.0.0.1", port: 22, username: "u", useSudo: false, credentials: {} }
const file = "/etc/proxy.yml"

const world = (
  platform: PlatformTestOptions = {},
  proxy = "",
  settings: SettingsFixture = { "proxy.configFile": file }
) => Layer.mergeAll(platformTest(platform), proxyFileTest(file, proxy), settingsTest(settings, [server]))

const apps = (...ports: ReadonlyArray<string>) => ({
  applications: ports.map((port, index) => ({ name: `app${index}`, uuid: `app${index}`, envs: { HOST_PORT: port } }))
})
const urls = (...ports: ReadonlyArray<number>) => ports.map((port) => `url: "http://10.0.0.5:${port}"\n`).join("")

describe("nextPort", () => {
  it.effect.each<[string, PlatformTestOptions, string, SettingsFixture | undefined, ReadonlyArray<number>]>([
    ["nothing is in use", {}, "", undefined, []],
    ["applications have ports", apps("2010", "2008"), "", undefined, [2008, 2010]],
    ["the proxy has ports", {}, urls(2020, 2007), undefined, [2007, 2020]],
    ["both have some, and some in common", apps("2010", "2008", "2010"), urls(2008, 2009), undefined, [
      2008,
      2009,
      2010
    ]],
    ["low ports are in use", apps("80"), "", undefined, [80]],
    ["ports are no ports", apps("", "abc", "0", "-1", "70000", " 2008 ", "2009/tcp"), "", undefined, [2008, 2009]],
    ["an application has none", { applications: [{ name: "a", envs: { PORT: "3000" } }] }, "", undefined, []],
    ["a subnet is set", {}, `${urls(2007)}http://192.168.1.9:2100`, {
      "proxy.configFile": file,
      "proxy.subnet": "192.168.1.0/24"
    }, [2100]],
    ["there is no proxy file", apps("2010"), urls(2020), {}, [2010]],
    ["the platform does not answer", { ...apps("2010"), failing: { applications: 500 } }, urls(2020), undefined, [
      2020
    ]],
    ["variables cannot be read", { ...apps("2010"), failing: { envs: 403 } }, urls(2020), undefined, [2020]]
  ])("when %s", ([, platform, proxy, settings, usedPorts]) =>
    Effect.gen(function*() {
      expect(yield* nextPort).toEqual({ nextPort: (usedPorts.at(-1) ?? 2006) + 1, usedPorts })
    }).pipe(Effect.provide(world(platform, proxy, settings))))

  it.effect("passes over the ports of bridges, which are gone in a moment", () =>
    Effect.gen(function*() {
      expect(yield* nextPort).toEqual({ nextPort: 2009, usedPorts: [2008, 30_000] })
      const edge = world({}, urls(2008), { "proxy.configFile": file, "deploy.bridgePorts": "2009-2019" })
      expect((yield* Effect.provide(nextPort, edge)).nextPort).toBe(2020)
    }).pipe(Effect.provide(world({}, urls(2008, 30_000)))))

  it.effect("gives out nothing while a port is hidden", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(nextPort)
      expect(failure).toMatchObject({ _tag: "HostPortHidden", status: 409 })
      expect(failure.message).toContain("\"app1\"")
      expect(failure.message).toContain("the token lacks an ability")
    }).pipe(Effect.provide(world({
      applications: [{ name: "app0", envs: {} }, { name: "app1", envs: { HOST_PORT: "2010" } }],
      hidden: ["HOST_PORT"]
    }))))

  it.effect("says so when there is no port left", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(nextPort)).toMatchObject({ _tag: "NoPortLeft", status: 409 })
    }).pipe(Effect.provide(world(apps("65535")))))

  it.live("asks for the variables of at most sixteen applications at a time", () =>
    Effect.gen(function*() {
      const platform = Context.get(
        yield* Layer.build(platformTest(apps(...Array.from({ length: 60 }, (_, index) => String(2100 + index))))),
        Platform
      )
      let [open, most] = [0, 0]
      const counting = Platform.of({
        ...platform,
        envs: (uuid) =>
          Effect.acquireUseRelease(
            Effect.sync(() => {
              open += 1
              most = Math.max(most, open)
            }),
            () => Effect.zipRight(Effect.sleep("5 millis"), platform.envs(uuid)),
            () => Effect.sync(() => (open -= 1))
          )
      })
      const { usedPorts } = yield* Effect.provideService(nextPort, Platform, counting)
      expect([usedPorts.length, most]).toEqual([60, 16])
    }).pipe(Effect.scoped, Effect.provide(world())))
})
