import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { makeBareApp } from "../../../src/sandbox/coolifyRecords.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { Vendors, vendorWorld } from "../../layers/worlds/vendorWorld.ts"

const app = {
  ...makeBareApp(1),
  uuid: "a1",
  name: "desk",
  build_pack: "dockercompose" as const,
  docker_compose_raw: "services:\n  web-api: {}\n  admin-ui: {}\n",
  docker_compose_domains: JSON.stringify({
    web_api: { domain: "https://desk.example" },
    admin_ui: { domain: "https://admin.desk.example" }
  })
}

describe("the address of a service on a Coolify that writes its names with underscores", () => {
  it.scopedLive("changes alone, however often it is set", () =>
    Effect.gen(function*() {
      const platform = yield* Platform
      const { coolify, refusals } = yield* Vendors
      const stored = Effect.map(
        Option.getOrThrow(coolify).state.apps,
        ([record]) => JSON.parse(record?.docker_compose_domains ?? "{}")
      )
      for (const address of ["https://desk.example", "https://new.example", "https://new.example"]) {
        yield* platform.setDomain({ uuid: "a1", buildPack: "composestack" }, address, "web-api")
        expect(yield* stored).toEqual({
          web_api: { domain: address },
          admin_ui: { domain: "https://admin.desk.example" }
        })
      }
      expect(yield* refusals).toEqual([])
    }).pipe(Effect.provide(vendorWorld("coolify and gitea", { coolify: { applications: [app] } }))))
})
