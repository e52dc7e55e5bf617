import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, TestClock } from "effect"
import { portEvidence } from "../../../src/pipelines/ports.ts"
import { localFilesTest, type LocalFixture } from "../../../src/testing/LocalFilesTest.ts"
import { platformTest, type PlatformTestOptions } from "../../../src/testing/PlatformTest.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { lost, type SshAnswer, sshTest } from "../../../src/testing/SshTest.ts"

const file = "/etc/proxy.yml"
const server = storedServer()
const quiet = { stdout: "" }

interface World {
  readonly apps?: PlatformTestOptions
  readonly proxy?: SshAnswer
  readonly ports?: SshAnswer
  readonly files?: Readonly<Record<string, LocalFixture>>
}
const world = ({ apps = {}, files = {}, ports = quiet, proxy = quiet }: World = {}) =>
  Layer.mergeAll(
    platformTest(apps),
    sshTest({ [`reading ${file}`]: proxy, "listing the ports in use": ports }),
    settingsTest({ "proxy.configFile": file, "projects.root": "/srv" }, [server]),
    localFilesTest(files),
    Path.layer
  )
const app = (port: string) => ({ applications: [{ name: "shop", uuid: "a", envs: { HOST_PORT: port } }] })

describe("portEvidence", () => {
  it.effect("is empty where nothing is used", () =>
    Effect.gen(function*() {
      expect(yield* portEvidence).toEqual({ nextPort: 2007, usedPorts: [], evidence: [] })
    }).pipe(Effect.provide(world())))

  it.effect("says what takes each port, and skips what merely listens", () =>
    Effect.gen(function*() {
      expect(yield* portEvidence).toEqual({
        nextPort: 2013,
        usedPorts: [22, 2007, 2008, 2009, 2010, 2011, 2012, 40_000],
        evidence: [
          { port: 22, usedBy: [{ kind: "socket", what: "0.0.0.0:22" }] },
          { port: 2007, usedBy: [{ kind: "project", what: "old" }] },
          {
            port: 2008,
            usedBy: [
              { kind: "variable", what: "shop" },
              { kind: "route", what: "http://10.0.0.5:2008" },
              { kind: "container", what: "web" },
              { kind: "project", what: "shop" }
            ]
          },
          { port: 2009, usedBy: [{ kind: "route", what: "http://10.0.0.5:2009" }] },
          { port: 2010, usedBy: [{ kind: "socket", what: "0.0.0.0:2010" }] },
          { port: 2011, usedBy: [{ kind: "container", what: "db" }] },
          { port: 2012, usedBy: [{ kind: "project", what: "new" }] },
          { port: 40_000, usedBy: [{ kind: "socket", what: "127.0.0.1:40000" }] }
        ]
      })
    }).pipe(Effect.provide(world({
      apps: app("2008"),
      proxy: { stdout: "url: http://10.0.0.5:2008\nurl: http://10.0.0.5:2009\n" },
      ports: {
        stdout: [
          "socket|00000000:0016",
          "socket|00000000:07DA",
          "socket|0100007F:9C40",
          "container|web|0.0.0.0:2008->80/tcp, [::]:2008->80/tcp",
          "container|db|127.0.0.1:2011->5432/tcp"
        ].join("\n")
      },
      files: {
        "/srv/old/.env": "HOST_PORT=2007\n",
        "/srv/shop/.env": "A=1\nHOST_PORT=\"2008\"\n",
        "/srv/new/.env": "BASE=2012\nHOST_PORT=${BASE}\n",
        "/srv/none/.env": "PORT=2013\n",
        "/srv/odd/.env": "HOST_PORT=none\n",
        "/srv/notes.txt": "HOST_PORT=2013\n"
      }
    }))))

  it.effect("says what it could not read, and counts the rest", () =>
    Effect.gen(function*() {
      const { nextPort, warnings = [] } = yield* portEvidence
      expect(nextPort).toBe(2008)
      expect(warnings).toEqual([
        expect.stringContaining("The applications' ports are unknown: Platform API 500"),
        expect.stringContaining("The proxy's ports are unknown: "),
        "The ports in use on \"Main\" are unknown: containers: permission denied",
        expect.stringContaining("The port of the project huge is unknown: ")
      ])
    }).pipe(Effect.provide(world({
      apps: { failing: { applications: 500 } },
      proxy: lost(server),
      ports: { stdout: "unread|containers|permission denied\nsocket|00000000:07D7\n" },
      files: { "/srv/huge/.env": "A".repeat(2 * 1024 * 1024) }
    }))))

  it.effect("does not wait for a server that hangs", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(portEvidence)
      yield* TestClock.adjust("9 seconds")
      const { nextPort, usedPorts, warnings } = yield* Fiber.join(fiber)
      expect([nextPort, usedPorts]).toEqual([2010, [2009]])
      expect(warnings).toEqual([
        "The proxy's ports are unknown: no answer within 8 seconds",
        "The ports in use on the proxy's server are unknown: no answer within 8 seconds"
      ])
    }).pipe(Effect.provide(world({ apps: app("2009"), proxy: Effect.never, ports: Effect.never }))))

  it.effect("takes no time for a server that says that it publishes nearly every port", () =>
    Effect.gen(function*() {
      const began = performance.now()
      const { evidence = [] } = yield* portEvidence
      expect(evidence.length).toBe(65_000)
      expect(performance.now() - began).toBeLessThan(3_000)
    }).pipe(Effect.provide(world({ ports: { stdout: "container|all|:1-65000->1-65000/tcp\n" } }))))

  it.effect("gives out nothing while an application's port is hidden", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(portEvidence)).toMatchObject({ _tag: "HostPortHidden", status: 409 })
    }).pipe(Effect.provide(world({ apps: { ...app("2008"), hidden: ["HOST_PORT"] } }))))

  it.effect("says so when nothing is left above", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(portEvidence)).toMatchObject({ _tag: "NoPortLeft", status: 409 })
    }).pipe(Effect.provide(world({ apps: app("65534"), ports: { stdout: "socket|00000000:FFFF\n" } }))))
})
