import { describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { expect } from "vitest"
import { addRoute, removeRoute } from "../../../../src/pipelines/routes/routes.ts"
import { bindToPlan, type PlanBinding, planUpsert, upsertApp } from "../../../../src/pipelines/upsert/upsert.ts"
import { GitHost } from "../../../../src/services/githost.ts"
import { LocalFiles } from "../../../../src/services/local/LocalFiles.ts"
import { Platform } from "../../../../src/services/platform/Platform.ts"
import { Ssh } from "../../../../src/services/ssh/Ssh.ts"
import { GitHostCalls, PlatformCalls } from "../../../../src/testing/PlatformTest.ts"
import { ProxyFileText } from "../../../../src/testing/SshTest.ts"
import { declaring, type MemoryWorld, memoryWorld } from "../../../layers/worlds/memoryWorld.ts"

const request = { projectPath: "/srv/shop" }
const hookUrl = "http://platform.test/webhooks/source/githost/events/manual"
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
  },
  gitHost: { repositories: { "ann/shop": [{ url: hookUrl, active: false }] } }
}
const within = (given: MemoryWorld) => <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.provide(program, memoryWorld(given))
const inWorld = within(world)

/** Binds an upsert to a plan of the current state. */
const held = Effect.flatMap(planUpsert(request), ({ planHash }) => bindToPlan({ ...request, planHash }))
/** The same in a process that goes on after a restart: the decisions are gone, what they were in words is not. */
const afterRestart = Effect.map(held, ({ planned }): PlanBinding => ({ decisions: Option.none(), planned }))

/** Requests to the platform and the git host while a program runs. */
const askedBy = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const all = Effect.all([Effect.flatten(PlatformCalls), Effect.flatMap(GitHostCalls, ({ asked }) => asked)])
    const before = (yield* all).map((calls) => calls.length)
    const result = yield* program
    const asked = (yield* all).flatMap((calls, index) => calls.slice(before[index]).map(([operation]) => operation))
    return { result, asked }
  })
const detailOf = (steps: ReadonlyArray<{ readonly step: string; readonly detail: string }>, name: string) =>
  steps.find(({ step }) => step === name)?.detail

const setPort = (value: string) =>
  Effect.flatMap(Platform, (platform) =>
    Effect.flatMap(
      platform.envs("app-1"),
      ([env]) => env === undefined ? Effect.void : platform.updateEnv("app-1", env, value)
    ))
const ownRoute = addRoute({ routeName: "shop", domain: "shop.example.com", port: 3000 })

describe("an upsert that is held to a plan", () => {
  it.effect("executes what was decided, and reads only what others may have changed", () =>
    Effect.gen(function*() {
      const decisions = yield* held
      const { asked, result } = yield* askedBy(upsertApp(request, decisions))
      expect(asked).toEqual([
        "updateApplication",
        "updateEnv",
        "clearDomains",
        "deploy",
        "setWebhookSecret",
        // The list of hooks is shared by all applications of a repository: it is read under its own lock.
        "hooks",
        "updateHook"
      ])
      expect(detailOf(result.steps, "env")).toBe("HOST_PORT changed: 2999 is now 3000")
      expect((yield* planUpsert(request)).changes).toEqual([])
    }).pipe(inWorld))

  it.effect("reads the proxy file once", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const ssh = yield* Ssh
      const watched = Ssh.of({
        ...ssh,
        exec: (server, command, options) => {
          seen.push(command.what)
          return ssh.exec(server, command, options)
        }
      })
      const { planHash } = yield* planUpsert(request)
      yield* bindToPlan({ ...request, planHash }).pipe(
        Effect.flatMap((decisions) => upsertApp(request, decisions)),
        Effect.provideService(Ssh, watched)
      )
      expect(seen.filter((what) => what.startsWith("reading "))).toHaveLength(1)
      expect(yield* Effect.flatten(ProxyFileText)).toContain("shop.example.com")
    }).pipe(inWorld))

  it.effect("decides nothing anew while it runs", () =>
    Effect.gen(function*() {
      const decisions = yield* held
      yield* setPort("3000")
      const files = yield* LocalFiles
      yield* files.write("/srv/shop/platform.json", JSON.stringify({ name: "shop", branch: "another" }))
      const { asked, result } = yield* askedBy(upsertApp(request, decisions))
      expect(asked).toContain("updateEnv")
      expect(result.changelogEntry.configSnapshot).toEqual({
        name: "shop",
        port: 3000,
        domain: "shop.example.com"
      })
    }).pipe(inWorld))

  it.effect("reads the variables of an application only after it has created it", () =>
    Effect.gen(function*() {
      const { asked } = yield* askedBy(Effect.flatMap(held, (decisions) => upsertApp(request, decisions)))
      const create = asked.indexOf("createApplication")
      expect(asked.indexOf("envs")).toBeGreaterThan(create)
      expect(asked.filter((operation) => operation === "applications")).toHaveLength(2)
      expect(asked.slice(create)).not.toContain("applications")
    }).pipe(within({ files: declaring({ name: "shop", port: 3000, domain: "shop.example.com" }) })))

  it.live("adds its route to a proxy file to which another one has been added meanwhile", () =>
    Effect.gen(function*() {
      const decisions = yield* held
      yield* addRoute({ routeName: "other", domain: "other.example.com", port: 4000 })
      yield* upsertApp(request, decisions)
      const text = yield* Effect.flatten(ProxyFileText)
      expect(text).toContain("other.example.com")
      expect(text).toContain("shop.example.com")
    }).pipe(inWorld))

  it.live("stops where its route has become another one meanwhile", () =>
    Effect.gen(function*() {
      yield* ownRoute
      yield* (yield* LocalFiles).write(
        "/srv/shop/platform.json",
        JSON.stringify({ name: "shop", port: 3000, domain: "new.example.com" })
      )
      yield* setPort("3000")
      const decisions = yield* held
      yield* removeRoute({ routeName: "shop" })
      const before = yield* Effect.flatten(ProxyFileText)
      const error = yield* Effect.flip(upsertApp(request, decisions))
      expect(error).toMatchObject({ step: "route", status: 500 })
      expect(error.message).toContain(
        "The plan was to replace the route shop: new.example.com to http://192.168.1.20:3000; since then something " +
          "has changed, and this step would now insert the route shop: new.example.com to " +
          "http://192.168.1.20:3000. Make a new plan, and send its planHash (upsert stopped at route)"
      )
      expect(yield* Effect.flatten(ProxyFileText)).toBe(before)
    }).pipe(inWorld))

  it.effect("does not create a webhook that it was to update", () =>
    Effect.gen(function*() {
      const decisions = yield* held
      const gitHost = yield* GitHost
      const repository = { owner: "ann", name: "shop" }
      yield* Effect.flatMap(gitHost.hooks(repository), (hooks) =>
        Effect.forEach(hooks, (hook) => gitHost.deleteHook(repository, hook)))
      const { steps, success } = yield* upsertApp(request, decisions)
      expect(success).toBe(true)
      expect(detailOf(steps, "webhook")).toMatch(
        /^Warning: the webhook could not be set up: The plan was to update the webhook; .* would now create a webhook/
      )
      expect(yield* gitHost.hooks(repository)).toEqual([])
    }).pipe(inWorld))
})

describe("an upsert that goes on after a restart", () => {
  it.effect("reads again, and does what was planned", () =>
    Effect.gen(function*() {
      const { asked } = yield* askedBy(Effect.flatMap(afterRestart, (decisions) => upsertApp(request, decisions)))
      expect(asked.filter((operation) => operation === "envs")).toHaveLength(3)
      expect((yield* planUpsert(request)).changes).toEqual([])
    }).pipe(inWorld))

  it.effect("finds done what it had done itself", () =>
    Effect.gen(function*() {
      const decisions = yield* afterRestart
      yield* setPort("3000")
      yield* ownRoute
      const { steps } = yield* upsertApp(request, decisions)
      expect(detailOf(steps, "env")).toBe("HOST_PORT is 3000 already")
      expect(detailOf(steps, "route")).toContain("is in the proxy file already")
    }).pipe(inWorld))

  it.effect("stops where a step would do something else than was planned", () =>
    Effect.gen(function*() {
      const decisions = yield* afterRestart
      yield* setPort("3777")
      const { asked, result } = yield* askedBy(Effect.flip(upsertApp(request, decisions)))
      expect(result).toMatchObject({ step: "env", status: 500 })
      expect(result.message).toContain("The plan was to change HOST_PORT from 2999 to 3000; since then")
      expect(result.message).toContain("this step would now change HOST_PORT from 3777 to 3000")
      expect(asked).not.toContain("updateEnv")
    }).pipe(inWorld))
})
