import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { addRoute, planRoute, removeRoute } from "../../../src/pipelines/routes/routes.ts"
import { proxyExit } from "../../../src/remote/proxy.ts"
import type { ServerAccess } from "../../../src/schema/ssh.ts"
import { locksTest } from "../../../src/testing/RunsTest.ts"
import { type SettingsFixture, settingsTest } from "../../../src/testing/SettingsTest.ts"
import {
  lost,
  proxyFileTest,
  ProxyFileText,
  SftpFiles,
  sftpTest,
  type SshAnswer,
  SshAsked,
  sshTest
} from "../../../src/testing/SshTest.ts"
import { plainFile, routersOf, serviceOf } from "./proxyFiles.ts"

const file = "/etc/proxy/berth.yml"
const app = { routeName: "app", domain: "app.example.com", port: 2007 }
const server = (id: string, host: string): ServerAccess => ({
  id,
  name: `Server ${id}`,
  host,
  port: 22,
  username: "deployer",
  useSudo: false,
  credentials: {}
})
const proxySettings: SettingsFixture = { "proxy.configFile": file, "proxy.targetIp": "10.0.0.5" }

describe("routes", () => {
  const world = (text = plainFile) =>
    Layer.mergeAll(locksTest, settingsTest(proxySettings, [server("1", "10.0.0.1")]), proxyFileTest(file, text))
  const now = Effect.flatten(ProxyFileText)

  it.effect("are added, found again and removed", () =>
    Effect.gen(function*() {
      expect(yield* addRoute(app)).toEqual({ added: true })
      const text = yield* now
      expect(text).toContain(`${routersOf("app", "app.example.com")}  middlewares:\n`)
      expect(text.endsWith(serviceOf("app", "10.0.0.5:2007"))).toBe(true)
      expect(yield* addRoute(app)).toEqual({ added: false, reason: "route_exists" })
      expect(yield* Effect.flip(addRoute({ ...app, port: 2008 }))).toMatchObject({
        status: 409,
        message: expect.stringContaining("10.0.0.5:2007")
      })
      expect(yield* now).toBe(text)
      expect(yield* removeRoute(app)).toEqual({ removed: true, routeName: "app" })
      expect(yield* removeRoute(app)).toEqual({ removed: false, reason: "route_not_found" })
      expect(yield* now).toBe(plainFile)
    }).pipe(Effect.provide(world())))

  it.effect("are left alone while a redeploy has their requests", () => {
    const bridged = plainFile.replace("\n  middlewares:", `${routersOf("app", "app.example.com")}\n  middlewares:`) +
      serviceOf("app", "10.0.0.5:30000")
    return Effect.gen(function*() {
      const refusal = yield* Effect.flip(addRoute(app))
      expect(refusal).toMatchObject({ _tag: "RouteBridged", status: 409, port: 30_000 })
      expect(refusal.message).toContain(`The route "app" in ${file} on "Server 1" leads to port 30000`)
      expect(yield* Effect.flip(planRoute({ ...app, action: "add" }))).toMatchObject({ _tag: "RouteBridged" })
      expect(yield* now).toBe(bridged)
      expect(yield* addRoute({ ...app, routeName: "other", domain: "other.example.com" })).toMatchObject({
        added: true
      })
      expect(yield* addRoute({ ...app, port: 30_000 })).toEqual({ added: false, reason: "route_exists" })
      expect(yield* removeRoute(app)).toMatchObject({ removed: true })
    }).pipe(Effect.provide(world(bridged)))
  })

  it.effect("all land when many are added at once", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 12 }, (_, index) => `app${index}`)
      yield* Effect.forEach(names, (routeName) => addRoute({ ...app, routeName }), { concurrency: "unbounded" })
      const text = yield* now
      expect(names.filter((name) => text.includes(serviceOf(name, "10.0.0.5:2007")))).toEqual(names)
    }).pipe(Effect.provide(world())))

  it.effect("come with a warning when their middleware is not defined", () =>
    Effect.gen(function*() {
      expect(yield* addRoute(app)).toEqual({ added: true, warning: expect.stringContaining("redirect-to-https") })
    }).pipe(Effect.provide(world(plainFile.replaceAll("    redirect-to-https:", "    auth:")))))

  it.effect("that do not fit are refused before anything is written", () =>
    Effect.gen(function*() {
      const refusal = yield* Effect.flip(addRoute({ ...app, domain: "a`b", port: 0 }))
      expect(refusal).toMatchObject({ status: 400 })
      expect(refusal.message).toBe(
        "domain must be a host name like app.example.com; port must be a whole number from 1 to 65535"
      )
      expect(yield* Effect.flip(removeRoute({ routeName: "a:b" }))).toMatchObject({ status: 400 })
      expect(yield* now).toBe(plainFile)
    }).pipe(Effect.provide(world())))

  it.effect("are not added to a file without the sections", () =>
    Effect.gen(function*() {
      const refusal = yield* Effect.flip(addRoute(app))
      expect(refusal).toMatchObject({ _tag: "ProxyFileUnfit", status: 500 })
      expect(refusal.message).toContain(`The proxy file ${file} on "Server 1" was left as it is`)
      expect(yield* now).toBe("http:\n  routers:\n")
    }).pipe(Effect.provide(world("http:\n  routers:\n"))))
})

describe("the server of the proxy file", () => {
  const asked = (settings: SettingsFixture, servers: ReadonlyArray<ServerAccess>) =>
    removeRoute(app).pipe(
      Effect.zipRight(Effect.map(Effect.flatten(SshAsked), (all) => all.map((one) => one.server.id))),
      Effect.catchAll((error) => Effect.succeed(error.message)),
      Effect.provide(
        Layer.mergeAll(
          locksTest,
          settingsTest(settings, servers),
          sshTest({ [`reading ${file}`]: { stdout: plainFile } }),
          sftpTest()
        )
      )
    )
  const [one, two, target] = [server("1", "10.0.0.1"), server("2", "10.0.0.2"), server("3", "10.0.0.5")]

  it.effect.each<[string, SettingsFixture, ReadonlyArray<ServerAccess>, unknown]>([
    ["is the configured one", { ...proxySettings, "proxy.server": "2" }, [one, two, target], ["2"]],
    ["is the one at the target address", proxySettings, [one, two, target], ["3"]],
    ["is the only one", proxySettings, [one], ["1"]],
    ["is the only one without a target address", { "proxy.configFile": file }, [two], ["2"]],
    [
      "is asked for when there are several",
      proxySettings,
      [one, two],
      expect.stringMatching(/proxy\.server in berth\.yaml/)
    ],
    ["is asked for when there is none", proxySettings, [], expect.stringContaining("no server is stored")],
    ["has to be stored", { ...proxySettings, "proxy.server": "9" }, [one], expect.stringContaining("is \"9\"")],
    ["needs a file", { "proxy.targetIp": "10.0.0.5" }, [one], expect.stringContaining("proxy.configFile is missing")]
  ])("%s", ([, settings, servers, answer]) =>
    Effect.gen(function*() {
      expect(yield* asked(settings, servers)).toEqual(answer)
    }))

  it.effect.each(
    [
      ["proxy.targetIp is missing", undefined],
      ["proxy.targetIp in berth.yaml must be", "10.0.0.5\""]
    ] as const
  )("gets no route without an address: %s", ([message, address]) =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(addRoute(app))
      expect(failure).toMatchObject({ status: 500, message: expect.stringContaining(message) })
    }).pipe(
      Effect.provide(Layer.mergeAll(
        locksTest,
        settingsTest({ "proxy.configFile": file, ...address === undefined ? {} : { "proxy.targetIp": address } }, [
          one
        ]),
        sshTest({}),
        sftpTest()
      ))
    ))
})

describe("an edit", () => {
  const other = plainFile + serviceOf("other", "10.0.0.9:2500")
  const discarding = "removing private copies of the proxy file"
  const scripted = (answers: Readonly<Record<string, SshAnswer | ReadonlyArray<SshAnswer>>>) =>
    Layer.mergeAll(
      locksTest,
      settingsTest(proxySettings, [server("1", "10.0.0.1")]),
      sshTest({ [`reading ${file}`]: { stdout: plainFile }, [discarding]: {}, ...answers }),
      sftpTest()
    )
  const whats = Effect.map(Effect.flatten(SshAsked), (all) => all.map(({ what }) => what))
  /** Staged text: the last that the file should have. */
  const lastStaged = Effect.map(Effect.flatten(SftpFiles), (files) => {
    const content = Array.from(files).findLast(([path]) => path.endsWith("-after"))?.[1]
    return content instanceof Uint8Array ? new TextDecoder().decode(content) : content
  })

  it.effect("starts over when somebody else wrote meanwhile", () =>
    Effect.gen(function*() {
      const adding = yield* Effect.fork(addRoute(app))
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(adding)).toEqual({ added: true })
      expect(yield* lastStaged).toContain("http://10.0.0.9:2500")
      expect(yield* lastStaged).toContain("http://10.0.0.5:2007")
      expect(yield* whats).toEqual([`reading ${file}`, `writing ${file}`, `reading ${file}`, `writing ${file}`])
    }).pipe(
      Effect.provide(scripted({
        [`reading ${file}`]: [{ stdout: plainFile }, { stdout: other }],
        [`writing ${file}`]: [{ code: proxyExit.changed }, {}]
      }))
    ))

  it.effect("gives up when somebody else keeps writing", () =>
    Effect.gen(function*() {
      const adding = yield* Effect.fork(Effect.flip(addRoute(app)))
      yield* TestClock.adjust("10 minutes")
      expect(yield* Fiber.join(adding)).toMatchObject({ _tag: "ProxyFileBusy", status: 409 })
      expect((yield* whats).length).toBeLessThan(20)
    }).pipe(Effect.provide(scripted({ [`writing ${file}`]: { code: proxyExit.changed } }))))

  it.effect.each(
    [
      [proxyExit.busy, "ProxyFileBusy", "has been editing it", false],
      [proxyExit.restored, "ProxyFileNotWritten", "It holds again what it held before", false],
      [proxyExit.damaged, "ProxyFileNotWritten", `what it held before is in ${file}.berth-bak`, false],
      [proxyExit.noBackup, "ProxyFileNotWritten", "It was not touched", false],
      [proxyExit.unusable, "ProxyFileNotWritten", "It was not touched", false],
      [null, "ProxyFileNotWritten", "It holds what it held before, or the whole new text", true],
      [127, "ProxyFileNotWritten", "It holds what it held before, or the whole new text", true]
    ] as const
  )("tells what exit code %s means for the file", ([code, tag, words, discards]) =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(addRoute(app))
      expect(failure).toMatchObject({ _tag: tag, message: expect.stringContaining(words) })
      if (tag === "ProxyFileNotWritten") expect(failure.message).toContain("No space left on device")
      expect((yield* whats).includes(discarding)).toBe(discards)
    }).pipe(Effect.provide(scripted({ [`writing ${file}`]: { code, stderr: "tee: No space left on device\n" } }))))

  it.effect("says of which file it is that the connection broke while it was read", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(addRoute(app))
      expect(failure).toMatchObject({ _tag: "ProxyFileUnreadable", status: 502 })
      expect(failure.message).toContain(`${file} on`)
      expect(failure.message).toContain("was lost: the server closed the connection")
    }).pipe(Effect.provide(scripted({ [`reading ${file}`]: lost(server("1", "10.0.0.1")) }))))

  it.effect("removes the staged copies when the connection breaks, and says what the file holds", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(addRoute(app))
      expect(failure).toMatchObject({ _tag: "ProxyFileNotWritten", status: 502 })
      expect(failure.message).toMatch(/was lost: .*\. It holds what it held before, or the whole new text$/)
      const [, writing, cleaning] = yield* Effect.flatten(SshAsked)
      expect(cleaning?.what).toBe(discarding)
      expect(cleaning?.args).toEqual(writing?.args.slice(1))
    }).pipe(Effect.provide(scripted({ [`writing ${file}`]: lost(server("1", "10.0.0.1")) }))))

  it.effect.each(
    [
      [{ code: proxyExit.busy }, "ProxyFileBusy", ""],
      [{ code: 1, stderr: "cat: no such file" }, "ProxyFileUnreadable", "cat: no such file"],
      [{ stdout: plainFile.padEnd(2 * 1024 * 1024 + 1) }, "ProxyFileUnfit", "2 MiB"],
      [{ stdout: `${plainFile}# \uFFFD` }, "ProxyFileUnfit", "UTF-8"]
    ] as const
  )("reads %o as what it is", ([answer, tag, words]) =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(addRoute(app))
      expect(failure).toMatchObject({ _tag: tag, message: expect.stringContaining(words) })
    }).pipe(Effect.provide(scripted({ [`reading ${file}`]: answer }))))
})
