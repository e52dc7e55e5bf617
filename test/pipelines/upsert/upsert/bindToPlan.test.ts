import { describe, it } from "@effect/vitest"
import { Effect, Option, Redacted, Schema } from "effect"
import { expect } from "vitest"
import { addRoute } from "../../../../src/pipelines/routes/routes.ts"
import { bindToPlan, planUpsert, upsert } from "../../../../src/pipelines/upsert/upsert.ts"
import { GitHost } from "../../../../src/services/githost.ts"
import { LocalFiles } from "../../../../src/services/local/LocalFiles.ts"
import { Platform } from "../../../../src/services/platform/Platform.ts"
import { Runs } from "../../../../src/services/runs/Runs.ts"
import { makeSteps, Steps } from "../../../../src/services/runs/Steps.ts"
import { GitHostCalls, PlatformCalls } from "../../../../src/testing/PlatformTest.ts"
import { ProxyFileText } from "../../../../src/testing/SshTest.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../../layers/worlds/memoryWorld.ts"

const request = { projectPath: "/srv/shop" }
const hookUrl = "http://platform.test/webhooks/source/githost/events/manual"
const repository = { owner: "ann", name: "shop" }
const world: MemoryWorld = {
  files: declaring({ name: "shop", port: 3000, domain: "shop.example.com" }),
  platform: {
    applications: [{
      uuid: "app-1",
      name: "shop",
      git_repository: "git@git.test:2004/ann/shop.git",
      publish_directory: "/",
      envs: { HOST_PORT: "2999" }
    }]
  }
}
const within = (given: MemoryWorld) => <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.provide(program, memoryWorld(given))
const inWorld = within(world)

const secret = Redacted.make("hook-secret")
const platformWith = <A, E, R>(use: (platform: Platform["Type"]) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Platform, use)
const declare = (entry: unknown) =>
  Effect.flatMap(LocalFiles, (files) => files.write("/srv/shop/platform.json", JSON.stringify(entry)))
const counts = Effect.gen(function*() {
  const platform = yield* Effect.flatten(PlatformCalls)
  const gitHost = yield* (yield* GitHostCalls).asked
  const isWrite = ([operation]: readonly [string, ...ReadonlyArray<unknown>]) =>
    /^(create|update|delete|set|clear|deploy)/.test(operation)
  return [platform.filter(isWrite).length, gitHost.filter(isWrite).length, yield* Effect.flatten(ProxyFileText)]
})

const moves: ReadonlyArray<readonly [what: string, move: Effect.Effect<unknown, unknown, Moving>, message: string]> = [
  [
    "a field of the application",
    platformWith((platform) => platform.updateApplication("app-1", { git_branch: "main" })),
    "Branch (git_branch) is now \"main\". Nothing was changed"
  ],
  [
    "the variable",
    platformWith((platform) =>
      Effect.flatMap(
        platform.envs("app-1"),
        ([env]) => env === undefined ? Effect.void : platform.updateEnv("app-1", env, "3001")
      )
    ),
    "HOST_PORT is now \"3001\". Nothing was changed"
  ],
  [
    "the proxy file",
    addRoute({ routeName: "shop", domain: "shop.example.com", port: 3000 }),
    "the proxy file has changed. Nothing was changed"
  ],
  [
    "the hooks",
    Effect.flatMap(GitHost, (gitHost) => gitHost.createHook(repository, hookUrl, secret)),
    "the repository's list of webhooks has changed"
  ],
  [
    "the application's secret",
    platformWith((platform) => platform.setWebhookSecret("app-1", secret)),
    "the application's webhook secret has changed"
  ],
  [
    "the application itself",
    platformWith((platform) => platform.deleteApplication("app-1")),
    "no longer holds: the application on the platform is now not there. Nothing"
  ],
  [
    "the entry",
    declare({ name: "shop", port: 3000, domain: "shop.example.com", branch: "main" }),
    "the entry in platform.json has changed"
  ],
  [
    "the server",
    declare({ name: "shop", port: 3000, domain: "shop.example.com", server: "web" }),
    "the server is now server server-web at 192.168.1.30"
  ]
]
type Moving = GitHost | LocalFiles | Platform | Effect.Effect.Context<ReturnType<typeof addRoute>>

describe("an upsert with a planHash", () => {
  it.effect("does what was planned where nothing has moved", () =>
    Effect.gen(function*() {
      const { planHash } = yield* planUpsert(request)
      const { success } = yield* upsert({ ...request, planHash })
      expect(success).toBe(true)
      expect((yield* planUpsert(request)).changes).toEqual([])
      const { runs } = yield* (yield* Runs).list({})
      expect(runs.map(({ state }) => state)).toEqual(["succeeded"])
    }).pipe(inWorld))

  it.effect.each(moves)(
    "does nothing, and names %s, where that has moved",
    ([, move, message]) =>
      Effect.gen(function*() {
        const { planHash } = yield* planUpsert(request)
        yield* move
        const before = yield* counts
        const error = yield* Effect.flip(upsert({ ...request, planHash }))
        expect([error._tag, "status" in error && error.status]).toEqual(["PlanMoved", 409])
        expect(error.message).toContain(message)
        expect(error.message).not.toContain("hook-secret")
        expect(yield* counts).toEqual(before)
        const { runs } = yield* (yield* Runs).list({})
        expect(runs).toMatchObject([{ state: "failed", error: { status: 409 }, steps: [] }])
      }).pipe(inWorld)
  )

  it.effect("is not applied twice", () =>
    Effect.gen(function*() {
      const { planHash } = yield* planUpsert(request)
      yield* upsert({ ...request, planHash })
      const error = yield* Effect.flip(upsert({ ...request, planHash }))
      expect(error.message).toContain("HOST_PORT is now \"3000\"")
    }).pipe(inWorld))

  it.effect("holds in another process with the same settings, and under another token it does not", () =>
    Effect.gen(function*() {
      const { planHash } = yield* inWorld(planUpsert(request))
      expect((yield* inWorld(upsert({ ...request, planHash }))).success).toBe(true)
      const others = within({ ...world, settings: { "platform.token": Redacted.make("another-token") } })
      const error = yield* Effect.flip(others(upsert({ ...request, planHash })))
      expect(error.message).toContain("before platform.token was changed")
      expect(planHash).not.toBe((yield* others(planUpsert(request))).planHash)
    }))

  it.effect("moves when the configured secret does", () =>
    Effect.gen(function*() {
      const { planHash } = yield* inWorld(planUpsert(request))
      const others = within({ ...world, settings: { "gitHost.webhookSecret": Redacted.make("new-hook-secret") } })
      const error = yield* Effect.flip(others(upsert({ ...request, planHash })))
      expect(error.message).toContain("the setting gitHost.webhookSecret has changed. Nothing")
    }))

  it.effect("says which step it would stop at", () =>
    Effect.gen(function*() {
      const { planHash } = yield* inWorld(planUpsert(request))
      const broken = within({ ...world, platform: { failing: { applications: 503 } } })
      const error = yield* Effect.flip(broken(upsert({ ...request, planHash })))
      expect(error).toMatchObject({ _tag: "UpsertFailed", step: "check", status: 500 })
    }))

  it.effect("is compared once in a run, whatever attempt that is at", () =>
    Effect.gen(function*() {
      const kept: Readonly<Record<string, unknown>> = { plan: "holds", planned: { env: "set HOST_PORT to 3000" } }
      const steps: Steps["Type"] = {
        ...yield* makeSteps(),
        hasResult: (step) => Effect.succeed(step in kept),
        // Values that are not stored would be compared again.
        perform: (step, schema) => Effect.orDie(Schema.decodeUnknown(schema)(kept[step]))
      }
      const old = { ...request, planHash: "of-what-was-there-before" }
      const held = yield* Effect.provideService(bindToPlan(old), Steps, steps)
      expect(held).toEqual({ decisions: Option.none(), planned: kept["planned"] })
      expect(yield* Effect.flatten(PlatformCalls)).toEqual([])
    }).pipe(inWorld))
})
