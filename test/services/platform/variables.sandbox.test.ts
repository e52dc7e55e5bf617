import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { listApplications } from "../../../src/pipelines/applications/applications.ts"
import { nextPort } from "../../../src/pipelines/ports.ts"
import { type CoolifyEnv, makeBareApp } from "../../../src/sandbox/coolifyRecords.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { vendorWorld } from "../../layers/worlds/vendorWorld.ts"

const shared = { value: "{{environment.SHOP_PORT}}", shared: "2071" }
const locked = { value: "2072", is_shown_once: true }

const worldOf = (envs: Readonly<Record<string, Partial<CoolifyEnv>>>, sensitive = true) =>
  vendorWorld("coolify and gitea", {
    sensitive,
    coolify: { applications: [{ ...makeBareApp(1), uuid: "a1", name: "shop", envs }] }
  })

describe("a variable of Coolify", () => {
  it.scopedLive("that names a shared one has the value of that", () =>
    Effect.gen(function*() {
      expect(yield* (yield* Platform).envs("a1")).toMatchObject([{ value: { _tag: "Known", value: "2071" } }])
      expect(yield* listApplications()).toMatchObject([{ _host_port: "2071" }])
      expect(yield* nextPort).toMatchObject({ nextPort: 2072 })
    }).pipe(Effect.provide(worldOf({ HOST_PORT: shared }))))

  it.scopedLive("that is locked is told to no token, which is not at fault", () =>
    Effect.gen(function*() {
      const platform = yield* Platform
      expect(yield* platform.envs("a1")).toMatchObject([
        { value: { _tag: "Hidden", reason: expect.stringMatching(/^it is locked in Coolify/) } },
        { value: { _tag: "Known" } }
      ])
      expect((yield* Effect.flip(nextPort)).message).toMatch(/locked in Coolify/)
      expect(yield* platform.check).toMatchObject([{}, { name: "platform token", ok: true }])
    }).pipe(Effect.provide(worldOf({ HOST_PORT: locked, OTHER: { value: "1" } }))))

  it.scopedLive("is hidden for want of an ability where the token reads none", () =>
    Effect.gen(function*() {
      const platform = yield* Platform
      const reason = expect.stringContaining("read:sensitive")
      expect(yield* platform.envs("a1")).toMatchObject([{ value: { reason } }, { value: { reason } }])
      expect(yield* platform.check).toMatchObject([{}, { name: "platform token", ok: false }])
    }).pipe(Effect.provide(worldOf({ HOST_PORT: locked, OTHER: { value: "1" } }, false))))
})
