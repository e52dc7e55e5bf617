import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { drift } from "../../../src/pipelines/drift.ts"
import { planUpsert, upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { differencesIn } from "../../../src/schema/upsert.ts"
import { inTurn } from "../../fixtures/thorough.ts"
import { declaring } from "../../layers/worlds/memoryWorld.ts"
import { Vendors, vendors, vendorWorld } from "../../layers/worlds/vendorWorld.ts"

const request = { projectPath: "/srv/shop" }
const app = { name: "shop", uuid: "app-shop", git_repository: "git@git.test:2004/ann/shop.git" }

const entries: ReadonlyArray<readonly [says: string, entry: object]> = [
  ["an application behind the proxy", { buildpack: "autopack", port: 3000, domain: "shop.example.com" }],
  ["an application that the platform serves", {
    buildpack: "autopack",
    domain: "shop.example.com",
    server: "localhost"
  }],
  ["a compose stack that the platform serves", {
    buildpack: "composestack",
    domain: "shop.example.com",
    server: "localhost",
    service: "web"
  }],
  ["a static site", { buildpack: "autopack", static: true }],
  ["a static site with its own directory", { buildpack: "autopack", static: true, publishDir: "/out" }]
]

const nothingWritten = Effect.gen(function*() {
  const { gitHost, platform } = yield* Vendors
  const calls = [...yield* platform.calls, ...yield* gitHost.calls]
  expect(calls.filter(({ method }) => method !== "GET")).toEqual([])
})

describe.each([...vendors])("a plan with %s", (vendor) => {
  it.live.each(entries.filter((_, at) => inTurn(vendors, at).includes(vendor)))(
    "only reads, and is empty once applied: %s",
    ([, entry]) =>
      Effect.gen(function*() {
        const first = yield* planUpsert(request)
        expect([first.action, first.uuid]).toEqual(["create", null])
        yield* nothingWritten
        yield* upsertApp(request)
        const second = yield* planUpsert(request)
        // A new site is given another spelling of its directory; only these words tell the two apart.
        const respelt = vendor === "neutral" && "static" in entry && !("publishDir" in entry)
        expect([second.action, second.changes.map(({ field }) => field)]).toEqual(
          respelt ? ["update", ["publish_directory", "platform.changelog.json", "deployment"]] : ["none", []]
        )
        expect(differencesIn(yield* drift(request))).toBe(respelt ? 1 : 0)
        expect(second.unknown).toEqual([
          expect.stringMatching(/^the secret of webhook \d+: the git host never shows it/)
        ])
      }).pipe(Effect.provide(vendorWorld(vendor, { files: declaring({ name: "shop", ...entry }) })))
  )

  it.live("does not call changed what the token may not read", () =>
    Effect.gen(function*() {
      const { changes, steps, unknown } = yield* planUpsert(request)
      yield* nothingWritten
      if (vendor === "neutral") return
      expect(changes.map(({ field }) => field)).not.toContain("HOST_PORT")
      expect(changes.map(({ field }) => field)).not.toContain("manual_webhook_secret_githost")
      expect(unknown.join()).toContain("HOST_PORT: the token in platform.token lacks the ability read:sensitive")
      expect(steps.find(({ step }) => step === "env")?.will).toBe("skip")
      const found = yield* drift(request)
      expect(found.diffs.map(({ field }) => field)).not.toContain("port")
      expect(found.unknown?.map(({ field }) => field)).toEqual(["port", "manual_webhook_secret_githost"])
    }).pipe(Effect.provide(vendorWorld(vendor, {
      files: declaring({ name: "shop", buildpack: "autopack", port: 3000 }),
      apps: [{ ...app, envs: { HOST_PORT: "2999" } }],
      sensitive: false
    }))))
})
