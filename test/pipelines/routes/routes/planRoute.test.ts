import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { addRoute, planRoute, removeRoute } from "../../../../src/pipelines/routes/routes.ts"
import type { RoutePlanRequest } from "../../../../src/schema/routes.ts"
import type { ServerAccess } from "../../../../src/schema/ssh.ts"
import { locksTest } from "../../../../src/testing/RunsTest.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"
import { proxyFileTest, ProxyFileText } from "../../../../src/testing/SshTest.ts"
import { plainFile, serviceOf } from "../proxyFiles.ts"

const file = "/etc/proxy/berth.yml"
const server: ServerAccess = {
  id: "1",
  name: "Main",
  host: "10.0.0.1",
  port: 22,
  username: "deployer",
  useSudo: false,
  credentials: {}
}
const world = (text = plainFile) =>
  Layer.mergeAll(
    locksTest,
    settingsTest({ "proxy.configFile": file, "proxy.targetIp": "10.0.0.5" }, [server]),
    proxyFileTest(file, text)
  )
const add: RoutePlanRequest = { action: "add", routeName: "app", domain: "app.example.com", port: 2007 }
const now = Effect.flatten(ProxyFileText)

/** The lines that a diff adds or takes away. */
const changed = (diff: string, sign: string) =>
  diff.split("\n").slice(2).flatMap((line) => line.startsWith(sign) ? [line.slice(1)] : [])

describe("the plan of a route", () => {
  it.effect("is the diff that adding it makes, and changes nothing", () =>
    Effect.gen(function*() {
      const plan = yield* planRoute(add)
      expect(yield* now).toBe(plainFile)
      expect(plan).toMatchObject({ changes: true, file, serverId: "1", serverName: "Main", removed: 0 })
      expect(plan.diff).toMatch(new RegExp(`^--- ${file}\n\\+\\+\\+ ${file}\n@@ `))
      expect(`${changed(plan.diff, "+").join("\n")}\n`).toContain(serviceOf("app", "10.0.0.5:2007"))
      expect(plan.added).toBe(changed(plan.diff, "+").length)
      yield* addRoute({ routeName: "app", domain: "app.example.com", port: 2007 })
      const lines = (yield* now).split("\n")
      expect(changed(plan.diff, "+").every((line) => lines.includes(line))).toBe(true)
      expect(lines.length - plainFile.split("\n").length).toBe(plan.added)
    }).pipe(Effect.provide(world())))

  it.effect("is the diff that removing it makes", () =>
    Effect.gen(function*() {
      const plan = yield* planRoute({ action: "remove", routeName: "blog" })
      expect(yield* now).toBe(plainFile)
      yield* removeRoute({ routeName: "blog" })
      expect(changed(plan.diff, "-").length).toBe(plan.removed)
      expect((yield* now).split("\n").length - plainFile.split("\n").length).toBe(plan.added - plan.removed)
    }).pipe(Effect.provide(world())))

  it.effect("says why nothing would be changed", () =>
    Effect.gen(function*() {
      expect(yield* planRoute({ action: "remove", routeName: "none" })).toMatchObject({
        changes: false,
        reason: "route_not_found",
        diff: ""
      })
      yield* addRoute({ routeName: "app", domain: "app.example.com", port: 2007 })
      expect(yield* planRoute(add)).toMatchObject({ changes: false, reason: "route_exists", added: 0, removed: 0 })
    }).pipe(Effect.provide(world())))

  it.effect("warns of a middleware that is not there", () =>
    Effect.gen(function*() {
      expect((yield* planRoute(add)).warning).toContain("redirect-to-https")
    }).pipe(Effect.provide(world(plainFile.replaceAll("    redirect-to-https:", "    auth:")))))

  it.effect("is refused as the change would be", () =>
    Effect.gen(function*() {
      yield* addRoute({ routeName: "app", domain: "app.example.com", port: 2008 })
      expect(yield* Effect.flip(planRoute(add))).toMatchObject({
        status: 409,
        message: expect.stringContaining("10.0.0.5:2008")
      })
      expect(yield* Effect.flip(planRoute({ action: "add", routeName: "app" }))).toMatchObject({
        status: 400,
        message: "routeName, domain and port are required to add a route"
      })
      expect(yield* Effect.flip(planRoute({ ...add, action: "remove" }))).toMatchObject({
        status: 400,
        message: "A route is removed by its name: leave out domain and port"
      })
    }).pipe(Effect.provide(world())))
})
