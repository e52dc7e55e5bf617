import { describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { expect } from "vitest"
import {
  createApplication,
  findApplication,
  listApplications
} from "../../../src/pipelines/applications/applications.ts"
import { PlatformCalls } from "../../../src/testing/PlatformTest.ts"
import { memoryWorld } from "../../layers/worlds/memoryWorld.ts"

const applications = [
  { uuid: "a1", name: "shop", envs: { A: "1", HOST_PORT: "3000" } },
  { uuid: "a2", name: "blog" },
  { uuid: "a3", name: "shop2", envs: { HOST_PORT: "3001" } }
]

describe("listApplications", () => {
  it.effect("adds port and variables", () =>
    Effect.gen(function*() {
      const apps = yield* listApplications()
      expect(apps.map((app) => [app.name, app._host_port, app._envs.map(({ key }) => key)])).toEqual([
        ["shop", "3000", ["A", "HOST_PORT"]],
        ["blog", null, []],
        ["shop2", "3001", ["HOST_PORT"]]
      ])
      expect(apps[0]?.["ports_exposes"]).toBe("3000")
    }).pipe(Effect.provide(memoryWorld({ platform: { applications } }))))

  it.effect("has null and nothing where variables cannot be read", () =>
    Effect.gen(function*() {
      const apps = yield* listApplications()
      expect(apps.map((app) => [app._host_port, app._envs])).toEqual(apps.map(() => [null, []]))
    }).pipe(Effect.provide(memoryWorld({ platform: { applications, failing: { envs: 500 } } }))))

  it.effect("does not take a hidden port for one", () =>
    Effect.gen(function*() {
      expect((yield* listApplications()).map((app) => app._host_port)).toEqual([null, null, null])
    }).pipe(Effect.provide(memoryWorld({ platform: { applications, hidden: ["HOST_PORT"] } }))))

  it.effect("fails when the applications cannot be read", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(listApplications())).status).toBe(502)
    }).pipe(Effect.provide(memoryWorld({ platform: { failing: { applications: 401 } } }))))
})

describe("findApplication", () => {
  it.effect.each([["shop", "a1"], ["shop2", "a3"], ["Shop", undefined], ["sho", undefined]])(
    "%s",
    ([name = "", uuid]) =>
      Effect.gen(function*() {
        expect(Option.getOrUndefined(yield* findApplication(name))?.uuid).toBe(uuid)
      }).pipe(Effect.provide(memoryWorld({ platform: { applications } })))
  )
})

describe("createApplication", () => {
  const app = { name: "new", gitRepo: "git@git.test:2004/ann/new.git" }

  it.effect.each([[undefined, "server-main"], ["", "server-main"], ["server-web", "server-web"]])(
    "on the server %j",
    ([serverUuid, expected]) =>
      Effect.gen(function*() {
        expect(yield* createApplication({ ...app, serverUuid })).toMatchObject({ name: "new", server_uuid: expected })
      }).pipe(Effect.provide(memoryWorld()))
  )

  it.effect("needs no default server where one is named", () =>
    Effect.gen(function*() {
      yield* createApplication({ ...app, serverUuid: "server-web" })
      const error = yield* Effect.flip(createApplication(app))
      expect(error.message).toContain("platform.defaultServerUuid")
      expect(yield* Effect.flatten(PlatformCalls)).toHaveLength(1)
    }).pipe(Effect.provide(memoryWorld({ without: ["platform.defaultServerUuid"] }))))
})
