import { HttpServer } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { formatBaseUrl, listen } from "../../../src/http/listen.ts"
import { Http } from "../../../src/http/server.ts"
import { makeGitHostDouble } from "../../../src/sandbox/gitHost.ts"
import { HttpFault } from "../../../src/sandbox/httpDouble.ts"
import { makePlatformDouble } from "../../../src/sandbox/platform.ts"
import { makeImageArchive } from "../../../src/sandbox/projects.ts"
import { makeCoolifyWorld, makeWorld, type World } from "../../../src/sandbox/world.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { servicesLive } from "../../../src/services/ServicesLive.ts"
import { platformTest } from "../../../src/testing/PlatformTest.ts"
import { type Reply, settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { inPart } from "../../fixtures/thorough.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const secrets = { platform: "plat+form/token=1", gitHost: "git+host/token=1", hook: "hook secret/&=1" }

const inBase64 = (text: string) => Buffer.from(text).toString("base64")
/** A secret as upstreams give it back: as it is, escaped for an address, and within what basic authentication sends. */
const formsOf = (secret: string) => [secret, encodeURIComponent(secret), inBase64(`me:${secret}@host`)]
const echoOf = (of: ReadonlyArray<string>) => of.flatMap(formsOf).join(" and ")
const echo = echoOf(Object.values(secrets))

/** Secrets in a text; of base64 a prefix is enough. */
const shownIn = (text: string, of: ReadonlyArray<string> = Object.values(secrets)) =>
  of.flatMap((secret) => [secret, encodeURIComponent(secret), inBase64(`me:${secret}`).slice(4, 12)]).filter((form) =>
    text.includes(form)
  )

/** The lines of the log, from here on. */
const logged = <A, E, R>(use: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push([message].flat().map(String).join(" ")))
    return Effect.provide(use(lines), Logger.replace(Logger.defaultLogger, logger))
  })

/** Upstreams answer every request with all secrets, in a body that cannot be decoded. */
const babble = HttpFault.Answer({ reply: { status: 200, body: { message: `no: ${echo}` } } })
const refusal = (status: number) =>
  HttpFault.Answer({ reply: { status, body: { message: `no: ${echo}`, errors: { name: [echo] } } } })

const application = {
  uuid: "a1",
  name: "shop",
  git_repository: `https://me:${secrets.platform}@git.test/ann/shop.git`,
  git_branch: `branch-${encodeURIComponent(secrets.hook)}`,
  base_directory: `/${inBase64(`me:${secrets.gitHost}@host`)}`,
  envs: { HOST_PORT: secrets.platform }
}

const service = Effect.gen(function*() {
  const platform = yield* makePlatformDouble({
    token: Redacted.make(secrets.platform),
    seed: { applications: [application] }
  })
  const gitHost = yield* makeGitHostDouble({
    token: Redacted.make(secrets.gitHost),
    seed: { repositories: { "ann/shop": [] } }
  })
  const file = yield* settingsFileWith(JSON.stringify({
    platform: {
      url: platform.url,
      token: secrets.platform,
      projectUuid: "p",
      defaultServerUuid: "server-local",
      privateKeyUuid: "k"
    },
    gitHost: {
      url: gitHost.url,
      token: secrets.gitHost,
      sshHost: "git.test",
      owner: "ann",
      webhookSecret: secrets.hook
    }
  }))
  const project = yield* temporaryDirectory
  yield* plant(project, { "platform.json": JSON.stringify({ name: "shop", repo: "shop", port: 3000 }) })
  return { ...yield* startService(file), gitHost, platform, project }
})

const upsert = "/api/platform/upsert"
const stepOf = ({ body }: Reply, name: string): string => {
  const steps: ReadonlyArray<unknown> = typeof body === "object" && body !== null && "steps" in body &&
      Array.isArray(body.steps)
    ? body.steps
    : []
  return JSON.stringify(
    steps.find((one) => typeof one === "object" && one !== null && "step" in one && one.step === name)
  )
}

describe("a secret that an upstream repeats", () => {
  it.scopedLive("is not in the changelog, whatever form it has", () =>
    Effect.gen(function*() {
      const { project, request } = yield* service
      const reply = yield* request("POST", upsert, { projectPath: project })
      expect(reply.status).toBe(200)
      const changelog = readFileSync(join(project, "platform.changelog.json"), "utf8")
      const [{ changes }] = JSON.parse(changelog)
      const old = Object.fromEntries(
        changes.map(({ field, old }: { readonly field: string; readonly old: unknown }) => [field, old])
      )
      expect(old).toMatchObject({
        git_repository: "https://me:***@git.test/ann/shop.git",
        git_branch: "branch-***",
        base_directory: expect.stringMatching(/^\/\S*\*\*\*/),
        HOST_PORT: "***"
      })
      expect(shownIn(changelog)).toEqual([])
      expect(shownIn(reply.text)).toEqual([])
    }))

  it.scopedLive("is not in the details of steps", () =>
    Effect.gen(function*() {
      const { gitHost, platform, project, request } = yield* service
      yield* platform.fail({ method: "GET", path: /\/envs$/ }, refusal(422))
      const created = { status: 201, body: { id: 1, key: "HOST_PORT" } }
      yield* platform.fail({ method: "POST", path: /\/envs$/ }, HttpFault.Answer({ reply: created }))
      yield* gitHost.fail({ method: "GET", path: /\/hooks$/ }, babble)
      const reply = yield* request("POST", upsert, { projectPath: project })
      expect(reply.status).toBe(200)
      expect(stepOf(reply, "env")).toMatch(/variables could not be read: .*no: \*\*\*/)
      expect(stepOf(reply, "webhook")).toMatch(/Warning: .*unexpected/)
      expect(shownIn(reply.text)).toEqual([])
    }))

  it.scopedLive("is in no error", () =>
    Effect.gen(function*() {
      const { gitHost, platform, project, request } = yield* service
      for (const fault of [babble, ...inPart([401, 404, 422, 500], [422]).map(refusal)]) {
        const all = [
          request("GET", "/api/platform/apps"),
          request("GET", "/api/platform/apps/find/shop"),
          request("POST", "/api/platform/drift", { projectPath: project }),
          request("POST", "/api/platform/webhooks/setup"),
          request("POST", upsert, { projectPath: project })
        ]
        for (const each of all) {
          yield* platform.fail({ path: "/applications" }, fault, { times: 3 })
          const reply = yield* each
          yield* platform.healed
          expect(reply.status).toBeGreaterThanOrEqual(400)
          expect(reply.body).toEqual({ error: expect.stringContaining(fault === babble ? "unexpected" : "no: ***") })
          expect(shownIn(reply.text)).toEqual([])
        }
      }
      expect(yield* gitHost.calls).toEqual([])
    }))

  it.scopedLive("is not in what is told of each application and each dependency", () =>
    Effect.gen(function*() {
      const { gitHost, platform, request } = yield* service
      for (const fault of [babble, refusal(422)]) {
        yield* platform.fail({ method: "PATCH" }, refusal(422))
        yield* gitHost.fail({ method: "GET", path: /\/hooks$/ }, fault)
        const setUp = yield* request("POST", "/api/platform/webhooks/setup")
        expect(setUp.body).toMatchObject({
          results: [{
            platform: expect.stringContaining("no: ***"),
            githost: expect.stringContaining(fault === babble ? "unexpected" : "no: ***")
          }]
        })
        expect(shownIn(setUp.text)).toEqual([])
      }
      yield* platform.fail({ path: "/applications" }, refusal(422), { times: 3 })
      const health = yield* request("GET", "/api/health?deep=true")
      expect(health.text).toContain("no: ***")
      expect(shownIn(health.text)).toEqual([])
    }))

  it.scopedLive("is not in the log", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { platform, request } = yield* service
        for (const path of [/envs$/, /applications$/]) {
          yield* platform.fail({ path }, refusal(422))
          expect((yield* request("GET", "/api/platform/next-port")).status).toBe(200)
        }
        const warnings = lines.filter((line) => /^The (port of "shop" is|applications' ports are) unknown: /.test(line))
        expect(warnings).toEqual([expect.stringContaining("no: ***"), expect.stringContaining("no: ***")])
        expect(shownIn(lines.join("\n"))).toEqual([])
      })
    ))
})

describe("a secret that a bug puts into its words", () => {
  it.scopedLive("is neither in the answer nor in the log", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const file = yield* settingsFileWith(JSON.stringify({ platform: { token: secrets.platform } }))
        const buggy = Layer.effect(
          Platform,
          Effect.map(
            Platform,
            (platform) => Platform.of({ ...platform, applications: Effect.die(new Error(`no: ${echo}`)) })
          )
        )
        const services = Layer.merge(
          Layer.provide(servicesLive(file), NodeContext.layer),
          Layer.provide(buggy, platformTest())
        )
        const context = yield* Layer.build(listen(Http, services, { host: "127.0.0.1", port: 0 }))
        const { address } = Context.get(context, HttpServer.HttpServer)
        const answer = yield* Effect.promise(() => fetch(`${formatBaseUrl(address)}/api/platform/apps`))
        expect(yield* Effect.promise(() => answer.json())).toEqual({ error: "Internal error: see the service's log" })
        const told = lines.filter((line) => line.startsWith("A request failed in a way that was not foreseen: "))
        expect(told).toEqual([expect.stringContaining("no: ***")])
        expect(shownIn(lines.join("\n"), [secrets.platform])).toEqual([])
      })
    ))
})

describe("a secret of a request that the platform repeats", () => {
  const own = "gho_abc/+1234"
  const repeated = HttpFault.Answer({
    reply: { status: 422, body: { message: `no: ${echoOf([own])}`, errors: { value: [own] } } }
  })

  it.scopedLive("is in no error", () =>
    Effect.gen(function*() {
      const { platform, request } = yield* service
      const address = `https://me:${encodeURIComponent(own)}@git.test/ann/shop.git`
      const app = { name: "new", buildpack: "autopack", gitRepo: address }
      const all = [
        ["POST", "/api/platform/apps/a1/envs", { key: "API_KEY", value: own }],
        ["POST", "/api/platform/apps", app],
        ["PATCH", "/api/platform/apps/a1", { git_repository: address }],
        ["PATCH", "/api/platform/apps/a1", { http_basic_auth_password: own }]
      ] as const
      for (const [method, path, body] of all) {
        yield* platform.fail({ method, path: /applications/ }, repeated)
        const reply = yield* request(method, path, body)
        expect([path, reply.status]).toEqual([path, 422])
        expect(reply.text).toContain("no: ***")
        expect(shownIn(reply.text, [own])).toEqual([])
      }
    }))

  it.scopedLive("is in no error where the platform is a Coolify", () =>
    Effect.gen(function*() {
      const world = yield* makeCoolifyWorld
      const { request } = yield* startService(world.settingsFile)
      const [app] = yield* world.platform.state.apps
      yield* world.platform.fail({ method: "POST", path: /envs$/ }, repeated)
      const reply = yield* request("POST", `/api/platform/apps/${app?.uuid}/envs`, { key: "API_KEY", value: own })
      expect(reply.status).toBe(422)
      expect(reply.text).toContain("no: ***")
      expect(shownIn(reply.text, [own])).toEqual([])
    }))
})

const passwordOf = (world: World) => Redacted.value(world.server.password)

/** Puts a program before the server's docker: it gets the arguments, and calls the real one as `$docker`. */
const wrapDocker = (world: World, script: string) =>
  Effect.sync(() => {
    const docker = join(world.standIns.bin, "docker")
    const real = join(world.standIns.bin, "docker-real")
    if (!existsSync(real)) renameSync(docker, real)
    writeFileSync(docker, `#!/bin/sh\ndocker='${real}'\n${script}\nexec "$docker" "$@"\n`, { mode: 0o755 })
  })

describe.skipIf(process.platform === "win32")("a secret that a server repeats", () => {
  const said = (world: World) => `echo 'no: ${echoOf([passwordOf(world)])}' >&2; exit 1`

  it.scopedLive("is in no error", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { request } = yield* startService(world.settingsFile)
      const deploy = {
        projectPath: join(world.projects, "hello"),
        serverId: world.serverId,
        remotePath: "~/containers/hello"
      }
      const all = [
        ["ps", request("GET", `/api/servers/${world.serverId}/containers`)],
        ["logs", request("GET", `/api/servers/${world.serverId}/logs?containerName=greeter`)],
        ["info", request("POST", "/api/container/deploy", deploy)],
        ["load", request("POST", "/api/container/deploy", deploy)]
      ] as const
      for (const [command, each] of all) {
        yield* wrapDocker(world, `case $1 in ${command}|version) ${said(world)};; esac`)
        const reply = yield* each
        expect(reply.status, command).toBeGreaterThanOrEqual(400)
        expect(shownIn(reply.text, [passwordOf(world)]), command).toEqual([])
      }
    }))

  it.scopedLive("is not in the log", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const world = yield* makeWorld
        const { request } = yield* startService(world.settingsFile)
        const projectPath = join(world.projects, "hello")
        const deploy = request("POST", "/api/container/deploy", {
          projectPath,
          serverId: world.serverId,
          remotePath: "~/containers/hello"
        })
        const bring = (version: string) => {
          const layers = [{ base: "b".repeat(300_000) }, { version }]
          writeFileSync(join(projectPath, "hello.tar"), makeImageArchive({ name: "hello:latest", layers }))
        }
        bring("one")
        expect((yield* deploy).body).toMatchObject({ success: true })
        bring("two")
        const refused = join(world.home, "refused")
        yield* wrapDocker(
          world,
          `if [ "$1" = load ] && [ ! -e '${refused}' ]; then : >'${refused}'; cat >/dev/null; ${said(world)}; fi`
        )
        expect((yield* deploy).body).toMatchObject({ success: true })
        expect(lines.filter((line) => /rejected the partial archive.*no: \*\*\*/.test(line))).toHaveLength(1)
        expect(shownIn(lines.join("\n"), [passwordOf(world)])).toEqual([])
      })
    ))
})
