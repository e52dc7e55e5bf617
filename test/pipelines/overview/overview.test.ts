import { Path } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, LogLevel, Ref, Schema, Struct, TestClock } from "effect"
import { makeMemory, makeSharedOverview, observe } from "../../../src/pipelines/overview/overview.ts"
import { ServerUnreachable } from "../../../src/schema/ssh.ts"
import { type Caller, CurrentCaller, makeLocalCaller } from "../../../src/services/access/Caller.ts"
import { LocalFiles } from "../../../src/services/local/LocalFiles.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { Runs } from "../../../src/services/runs/Runs.ts"
import { localFilesTest, type LocalFixture, localProcessesTest } from "../../../src/testing/LocalFilesTest.ts"
import { gitHostTest, platformTest, type PlatformTestOptions } from "../../../src/testing/PlatformTest.ts"
import { runsTest } from "../../../src/testing/RunsTest.ts"
import { type SettingsFixture, settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { type AskedCommand, SshAsked, type SshReply, sshTest } from "../../../src/testing/SshTest.ts"
import { everySetting } from "../../layers/worlds/memoryWorld.ts"

const root = "/srv/projects"
const project = (name: string, serverId: string | null, more: Readonly<Record<string, LocalFixture>> = {}) =>
  Object.fromEntries(
    Object.entries({
      "Dockerfile": "FROM scratch",
      "compose.yml": "services: {}",
      "container.json": JSON.stringify({ serverId }),
      ...more
    }).map(([file, content]) => [`${root}/${name}/${file}`, content])
  )
const servers = (count: number) =>
  Array.from({ length: count }, (_, index) => storedServer({ id: String(index + 1), name: `Server ${index + 1}` }))

interface Given {
  readonly files?: Readonly<Record<string, LocalFixture>>
  readonly platform?: PlatformTestOptions
  readonly settings?: SettingsFixture
  readonly servers?: number
  /** Result of reading the proxy file. */
  readonly reading?: SshReply | Effect.Effect<SshReply>
  readonly answer?: (asked: AskedCommand) => SshReply | Effect.Effect<SshReply, ServerUnreachable>
}

const world = ({ answer, files, platform, reading, servers: count = 1, settings = {} }: Given) =>
  Layer.mergeAll(
    localProcessesTest({}),
    localFilesTest({ ...files, [root]: { directory: true } }),
    Path.layer,
    platformTest(platform),
    gitHostTest(),
    sshTest({
      "looking at the server before the deploy": { stdout: "" },
      "looking at the stacks": answer ?? { stdout: "home\t/home/deployer\n" },
      "reading /etc/proxy/dynamic.yml": reading ?? { stdout: "" }
    })
  ).pipe(
    Layer.provideMerge(runsTest),
    Layer.provideMerge(settingsTest({ "projects.root": root, ...settings }, servers(count)))
  )

/** Without a secret, no webhook is declared. */
const withoutHook = Struct.omit(everySetting, "gitHost.webhookSecret")

const look = Effect.scoped(Effect.flatMap(makeMemory, observe))
const up = (path: string, release = "r1") =>
  `home\t/home/deployer\ncontainer\tUp 3 hours\t\tweb\t${path}\nrelease\t${release}\t${path}\n`

describe("overview", () => {
  it.effect("tells a project's stack on its server and on others that have it, with one command a server", () =>
    Effect.gen(function*() {
      const overview = yield* look
      expect(overview.errors).toEqual([])
      expect(overview.projects).toMatchObject([
        {
          name: "shop",
          path: `${root}/shop`,
          run: null,
          servers: [
            { serverId: "2", serverName: "Server 2", state: "absent", containers: { up: 0, total: 0 }, release: null },
            { serverId: "3", serverName: "Server 3", state: "running", containers: { up: 1, total: 1 }, release: "r1" }
          ]
        }
      ])
      expect(overview.projects[0]?.servers.every((stack) => !("error" in stack))).toBe(true)
      expect(overview.servers.map(({ answers, id }) => [id, answers])).toEqual([["1", true], ["2", true], ["3", true]])
      const asked = (yield* yield* SshAsked).filter(({ what }) => what === "looking at the stacks")
      expect(asked.map(({ input, server }) => [server.id, input.toString()])).toEqual([
        ["1", ""],
        ["2", "~/containers/shop\n"],
        ["3", ""]
      ])
    }).pipe(Effect.provide(world({
      files: project("shop", "2"),
      servers: 3,
      answer: ({ server }) => ({
        stdout: server.id === "3" ? up("/home/deployer/containers/shop") : "home\t/home/deployer\n"
      })
    }))))

  it.effect.each<readonly [string, Given, string | undefined]>([
    ["no project, and no setting that names their directory", { servers: 0 }, "projects"],
    ["projects before a server", { files: project("shop", null), servers: 0 }, "server"],
    ["projects that name a server which is not stored", { files: project("shop", "1"), servers: 0 }, "server"],
    ["a server before a deploy", { files: project("shop", "1") }, "deploy"],
    [
      "a stack",
      { files: project("shop", "1"), answer: () => ({ stdout: up("/home/deployer/containers/shop") }) },
      undefined
    ],
    [
      "a server that does not answer",
      {
        files: project("shop", "1"),
        answer: ({ server }) =>
          new ServerUnreachable({ server: server.name, host: "192.168.1.20", port: 22, reason: "no answer" })
      },
      undefined
    ],
    ["an application for the platform", { files: project("shop", "1", { "platform.json": "{}" }) }, undefined],
    [
      "an application for the platform and no server",
      { files: project("shop", null, { "platform.json": "{}" }), servers: 0 },
      undefined
    ]
  ])("names the next of the first steps, up to a first deploy: %s", ([, given, next]) =>
    Effect.gen(function*() {
      expect((yield* look).firstStep).toBe(next)
    }).pipe(Effect.provide(world(given))))

  it.effect("names no first step once a deploy has succeeded, also where its stack is gone", () =>
    Effect.gen(function*() {
      const deploy = {
        kind: "deploy",
        key: { rank: 1, name: "shop" },
        subject: {},
        request: {},
        result: Schema.Unknown,
        afterRestart: "give up"
      } as const
      const runs = yield* Runs
      yield* Effect.exit(runs.run(deploy, Effect.die("bug")))
      expect((yield* look).firstStep).toBe("deploy")
      yield* runs.run(deploy, Effect.succeed(1))
      expect(yield* look).not.toHaveProperty("firstStep")
    }).pipe(Effect.provide(world({ files: project("shop", "1") }))))

  it.effect("does not take a project for not deployed while a server that may have it does not answer", () =>
    Effect.gen(function*() {
      const { projects } = yield* look
      expect(projects.map(({ name, state, stateReason }) => [name, state, stateReason])).toEqual([
        ["anywhere", "unknown", expect.stringMatching(/^Server 2: /)],
        ["broken", "unknown", expect.stringMatching(/container\.json.*; Server 2: /)],
        ["elsewhere", "running", null],
        ["here", "not deployed", null],
        // Only container.json says where the stack is.
        ["odd", "not deployed", null]
      ])
    }).pipe(Effect.provide(world({
      files: {
        ...project("anywhere", null),
        ...project("broken", "1", { "container.json": "{" }),
        ...project("elsewhere", null),
        ...project("here", "1"),
        ...project("odd", "1", { "platform.json": "{" })
      },
      servers: 2,
      answer: ({ server }) =>
        server.id === "2"
          ? new ServerUnreachable({ server: server.name, host: "192.168.1.20", port: 22, reason: "no answer" })
          : { stdout: up("/home/deployer/containers/elsewhere") }
    }))))

  it.effect("finds the containers of each project by compose's label, whatever their names", () =>
    Effect.gen(function*() {
      const { projects } = yield* look
      expect(projects.map(({ name, servers, state }) => [name, state, servers[0]?.containerNames])).toEqual([
        ["api", "degraded", ["my-own-name", "api-db-1"]],
        ["api-gateway", "running", ["api"]],
        ["crashing", "degraded", ["crashing-web-1"]],
        ["ended", "stopped", ["ended-web-1"]],
        ["fresh", "not deployed", []]
      ])
    }).pipe(Effect.provide(world({
      files: Object.assign(
        {},
        ...["api", "api-gateway", "crashing", "ended", "fresh"].map((name) => project(name, "1"))
      ),
      answer: () => ({
        stdout: [
          "home\t/home/deployer",
          "container\tUp 3 hours\t\tmy-own-name\t/home/deployer/containers/api",
          "container\tExited (137) 1 minute ago\t\tapi-db-1\t/home/deployer/containers/api",
          "container\tUp 3 hours (healthy)\t\tapi\t/home/deployer/containers/api-gateway",
          "container\tRestarting (1) 3 seconds ago\t\tcrashing-web-1\t/home/deployer/containers/crashing",
          "container\tExited (1) 2 days ago\t\tended-web-1\t/home/deployer/containers/ended"
        ].join("\n")
      })
    }))))

  it.effect.each([["192.168.1.20", true], ["10.0.0.9", true], ["127.0.0.1", true], ["10.0.0.8", false]] as const)(
    "links a domain by whether its route leads to a project's port at an address of its server: %s, %s",
    ([address, isLinked]) =>
      Effect.gen(function*() {
        const { projects } = yield* look
        expect(projects[0]?.urls).toEqual([
          ...isLinked ? ["https://shop.example.com"] : [],
          "http://192.168.1.20:2000"
        ])
      }).pipe(Effect.provide(world({
        files: project("shop", "1"),
        settings: { "proxy.configFile": "/etc/proxy/dynamic.yml", "proxy.targetIp": "10.0.0.9" },
        answer: () => ({
          stdout: "home\t/home/deployer\n" +
            "container\tUp 3 hours\t0.0.0.0:2000->80/tcp\tweb\t/home/deployer/containers/shop\n"
        }),
        reading: {
          stdout: `http:
  routers: { shop: { rule: "Host(\`shop.example.com\`)", service: shop } }
  services: { shop: { loadBalancer: { servers: [{ url: "http://${address}:2000" }] } } }
`
        }
      })))
  )

  it.effect("says of each thing that it could not observe why", () =>
    Effect.gen(function*() {
      const overview = yield* look
      const [lone, odd, shop] = overview.projects
      expect(lone).toMatchObject({
        state: "unknown",
        stateReason: "container.json names a server that is not stored"
      })
      expect(shop).toMatchObject({ state: "unknown", stateReason: expect.stringContaining("group docker") })
      expect(lone?.servers).toMatchObject([
        { serverId: "9", serverName: null, state: null, error: "container.json names a server that is not stored" }
      ])
      expect(odd).toMatchObject({ error: expect.stringContaining("platform.json:1") })
      expect(odd?.servers).toMatchObject([
        { state: null, error: "container.json: remotePath must not contain a line break or NUL" }
      ])
      expect(shop?.servers).toMatchObject([{
        state: null,
        containers: null,
        error: expect.stringContaining("group docker")
      }])
      expect(overview.servers).toMatchObject([
        { id: "1", answers: true, error: expect.stringContaining("permission denied") },
        { id: "2", answers: false, latencyMs: null, error: expect.stringContaining("no route") }
      ])
    }).pipe(Effect.provide(world({
      files: {
        ...project("shop", "1"),
        ...project("lone", "9"),
        ...project("odd", "2", {
          "container.json": JSON.stringify({ serverId: "2", remotePath: "~/a\n~/b" }),
          "platform.json": "{"
        })
      },
      servers: 2,
      answer: ({ server }) =>
        server.id === "1"
          ? { code: 3, stderr: "permission denied while trying to connect to the Docker daemon socket" }
          : new ServerUnreachable({ server: server.name, host: server.host, port: server.port, reason: "no route" })
    }))))

  it.effect("answers within five seconds whatever hangs, with what the others said", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(look)
      yield* TestClock.adjust("4500 millis")
      const overview = yield* Fiber.join(fiber)
      expect(overview.servers.filter(({ answers }) => answers)).toHaveLength(24)
      expect(overview.servers.filter(({ answers }) => !answers)).toMatchObject(
        Array.from({ length: 16 }, () => ({ error: "no answer within 2 s", latencyMs: null }))
      )
    }).pipe(Effect.provide(world({
      servers: 40,
      answer: ({ server }) => Number(server.id) <= 16 ? Effect.never : { stdout: "home\t/home/deployer\n" }
    }))))

  it.effect("says who was not asked where everybody hangs, and asks at most 16 at once", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(look)
      yield* TestClock.adjust("1 second")
      expect(yield* yield* SshAsked).toHaveLength(16)
      yield* TestClock.adjust("3500 millis")
      const overview = yield* Fiber.join(fiber)
      expect(overview.servers.every(({ answers, error }) => !answers && error !== undefined)).toBe(true)
      expect(overview.servers.filter(({ error }) => error?.startsWith("not asked"))).toHaveLength(8)
    }).pipe(Effect.provide(world({ servers: 56, answer: () => Effect.never }))))

  it.scoped("asks those that hung last time last, and gives them longer", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory
      const first = yield* Effect.fork(observe(memory))
      yield* TestClock.adjust("4500 millis")
      expect((yield* Fiber.join(first)).servers[0]).toMatchObject({ id: "1", answers: false })
      const second = yield* Effect.fork(observe(memory))
      yield* TestClock.adjust("4500 millis")
      const { servers } = yield* Fiber.join(second)
      expect(servers[0]).toMatchObject({ id: "1", answers: true, latencyMs: 3_000 })
      const asked = (yield* yield* SshAsked).filter(({ what }) => what === "looking at the stacks")
      expect(asked.at(-1)?.server.id).toBe("1")
    }).pipe(Effect.provide(world({
      servers: 17,
      answer: ({ server }) => {
        const said = { stdout: "home\t/home/deployer\n" }
        return server.id === "1" ? Effect.delay(Effect.succeed(said), "3 seconds") : said
      }
    }))))

  it.effect("tells each application's status and how far it has drifted", () =>
    Effect.gen(function*() {
      const { applications, errors } = yield* look
      expect(errors).toEqual([])
      expect(applications.flatMap(({ error }) => error ?? [])).toEqual([])
      expect(applications).toMatchObject([
        { name: "missing", uuid: null, projectPath: `${root}/shop`, status: null, drift: null },
        { name: "same", projectPath: `${root}/shop`, drift: 0 },
        { name: "moved", projectPath: `${root}/shop`, drift: 1 },
        { name: "foreign", projectPath: null, status: expect.any(String), drift: null }
      ])
    }).pipe(Effect.provide(world({
      files: project("shop", "1", {
        "platform.json": JSON.stringify([
          { name: "missing", buildpack: "autopack" },
          { name: "same", buildpack: "autopack", branch: "main" },
          { name: "moved", buildpack: "autopack", branch: "main" }
        ])
      }),
      settings: withoutHook,
      platform: {
        applications: [
          { name: "same", git_branch: "main", git_repository: "git@git.test:2004/ann/shop.git" },
          { name: "moved", git_branch: "other", git_repository: "git@git.test:2004/ann/shop.git" },
          { name: "foreign", git_branch: "main", git_repository: "git@git.test:2004/ann/shop.git" }
        ]
      }
    }))))

  it.effect.each([["tells", false], ["hangs", true]] as const)(
    "reads the proxy file once for all applications, and compares the rest where its server %s",
    ([, hangs]) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(look)
        yield* TestClock.adjust("4500 millis")
        const { applications } = yield* Fiber.join(fiber)
        // Either has no route, and one another branch.
        expect(applications.map(({ drift, error, name }) => [name, drift, error])).toEqual([
          ["one", hangs ? 1 : 2, undefined],
          ["other", hangs ? 0 : 1, undefined]
        ])
        const reads = (yield* yield* SshAsked).filter(({ what }) => what.startsWith("reading"))
        expect(reads.length).toBe(1)
      }).pipe(Effect.provide(world({
        files: project("shop", "1", {
          "platform.json": JSON.stringify([
            { name: "one", buildpack: "autopack", branch: "main", port: 1, domain: "one.example.com" },
            { name: "other", buildpack: "autopack", port: 2, domain: "other.example.com" }
          ])
        }),
        settings: withoutHook,
        reading: hangs ? Effect.never : { stdout: "http:\n  routers: {}\n  services: {}\n" },
        platform: {
          applications: [["one", "1"], ["other", "2"]].map(([name = "", port = ""]) => ({
            name,
            git_repository: "git@git.test:2004/ann/shop.git",
            envs: { HOST_PORT: port }
          }))
        }
      })))
  )

  it.scoped("compares first what an earlier look had no time for, and shows the others as they were", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory
      const platform = yield* Platform
      const calls = yield* Ref.make(0)
      // The first look compares one at once and hangs on the other; the second hangs on whatever comes after the first.
      const slow = Platform.of({
        ...platform,
        envs: (uuid) =>
          Effect.flatMap(
            Ref.getAndUpdate(calls, (count) => count + 1),
            (count) => count % 2 === 0 ? platform.envs(uuid) : Effect.never
          )
      })
      const again = Effect.gen(function*() {
        const fiber = yield* Effect.fork(Effect.provideService(observe(memory), Platform, slow))
        yield* TestClock.adjust("4500 millis")
        return (yield* Fiber.join(fiber)).applications.map(({ drift, error, observedAt }) => ({
          drift,
          error,
          observedAt
        }))
      })
      const [one, other] = yield* again
      expect([one, other]).toMatchObject([{ drift: 0, error: undefined }, {
        drift: null,
        error: expect.stringMatching(/^Not compared: no answer within/)
      }])
      const [kept, now] = yield* again
      expect(now).toMatchObject({ drift: 0, error: undefined })
      expect(kept).toMatchObject({
        drift: 0,
        observedAt: one?.observedAt,
        error: expect.stringMatching(/^Not compared again: no answer within/)
      })
    }).pipe(Effect.provide(world({
      files: project("shop", "1", {
        "platform.json": JSON.stringify([
          { name: "one", buildpack: "autopack", branch: "main" },
          { name: "other", buildpack: "autopack", branch: "main" }
        ])
      }),
      settings: withoutHook,
      platform: {
        applications: ["one", "other"].map((name) => ({
          name,
          git_branch: "main",
          git_repository: "git@git.test:2004/ann/shop.git"
        }))
      }
    }))))

  it.effect("says what is not known of the applications when the platform refuses", () =>
    Effect.gen(function*() {
      const { applications, errors } = yield* look
      expect(errors).toEqual([expect.stringMatching(/^The applications of the platform are not known: .*not today/)])
      expect(applications).toMatchObject([{ name: "shop", uuid: null, status: null, error: errors[0] }])
    }).pipe(Effect.provide(world({
      files: project("shop", "1", { "platform.json": JSON.stringify({ name: "shop" }) }),
      settings: everySetting,
      platform: { failing: { applications: 500 } }
    }))))

  it.effect("asks no platform where there is none", () =>
    Effect.gen(function*() {
      const { applications, errors } = yield* look
      expect({ applications, errors }).toEqual({ applications: [], errors: [] })
    }).pipe(Effect.provide(world({ platform: { failing: { applications: 500 } } }))))

  it.effect("shows the run that is under way for a project", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { run } = yield* (yield* Runs).start({
        kind: "build",
        key: { rank: 1, name: "a build" },
        subject: { projectPath: `${root}/shop` },
        request: {},
        result: Schema.Void,
        afterRestart: "give up"
      }, Deferred.await(gate))
      yield* Effect.yieldNow()
      const { projects } = yield* look
      expect(projects.map(({ name, run }) => [name, run?.id ?? null])).toEqual([["other", null], ["shop", run.id]])
      yield* Deferred.succeed(gate, undefined)
    }).pipe(Effect.provide(world({ files: { ...project("shop", "1"), ...project("other", "1") } }))))

  it.effect("tells that the projects cannot be listed, and still what the servers do", () =>
    Effect.gen(function*() {
      const { errors, projects, servers } = yield* look
      expect(projects).toEqual([])
      expect(errors).toEqual([
        expect.stringMatching(/the projects root does not exist: create it, or set projects\.root in \S+/)
      ])
      expect(servers).toMatchObject([{ id: "1", answers: true }])
    }).pipe(Effect.provide(world({ settings: { "projects.root": "/nowhere" } }))))
})

describe("an overview for callers with a token", () => {
  const linked = {
    ...project("shop", "1", {
      "container.json": JSON.stringify({ serverId: "1", allowLinks: true }),
      "compose.yml": { link: "/home/ann/other/compose.yml" },
      "platform.json": { link: "/home/ann/other/platform.json" }
    }),
    ...project("blog", "1"),
    "/home/ann/other/compose.yml": "services: { canary-of-a-file: [",
    "/home/ann/other/platform.json": "[{\"name\": \"canary-of-a-file\", \"port\": \"x\"}]"
  }

  it.scoped("is one of its own, in which no link is followed that is not trusted, whoever asks first", () =>
    Effect.gen(function*() {
      const shared = yield* makeSharedOverview
      const as = (caller: Caller) => Effect.provideService(shared, CurrentCaller, caller)
      const local = yield* as(makeLocalCaller())
      expect(JSON.stringify(local)).toContain("canary-of-a-file")
      for (const role of ["operator", "viewer"] as const) {
        const seen = yield* as({ name: role, role })
        expect(seen.projects.map(({ name }) => name)).toEqual(["blog", "shop"])
        expect(seen.errors).toEqual([])
        expect(JSON.stringify(seen)).not.toContain("canary-of-a-file")
        expect(JSON.stringify(seen.projects[1]?.problems)).toContain("berth trust PROJECT")
      }
      expect(JSON.stringify(yield* as(makeLocalCaller()))).toContain("canary-of-a-file")
    }).pipe(Effect.provide(world({ files: linked }))))

  it.effect.each<"names" | "read">(["names", "read"])(
    "shows a project that Berth fails at as a problem of it alone (%s)",
    (broken) =>
      Effect.gen(function*() {
        const files = yield* LocalFiles
        const dieFor = <A, E>(file: string, effect: Effect.Effect<A, E>) =>
          file.startsWith(`${root}/shop`) ? Effect.die(new Error("a defect")) : effect
        const failing = LocalFiles.of({
          ...files,
          ...broken === "names" ? { names: (file) => dieFor(file, files.names(file)) } : {},
          ...broken === "names" ? { list: (file) => dieFor(file, files.list(file)) } : {},
          ...broken === "read" ? { read: (file) => dieFor(file, files.read(file)) } : {}
        })
        const { errors, projects } = yield* Effect.provideService(look, LocalFiles, failing)
        expect(errors).toEqual([])
        expect(projects.map(({ name, problems = [] }) => [name, problems.map(({ reason }) => reason)])).toEqual([
          ["blog", []],
          ["shop", ["its files cannot be read: the log says why"]]
        ])
      }).pipe(
        Logger.withMinimumLogLevel(LogLevel.None),
        Effect.provide(world({ files: { ...project("shop", "1"), ...project("blog", "1") } }))
      )
  )
})
