import { describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { expect } from "vitest"
import { findApplication, listApplications } from "../../../src/pipelines/applications/applications.ts"
import { drift } from "../../../src/pipelines/drift.ts"
import { nextPort } from "../../../src/pipelines/ports.ts"
import { upsertApp } from "../../../src/pipelines/upsert/upsert.ts"
import { setUpWebhooks, webhookStatus } from "../../../src/pipelines/webhooks/webhooks.ts"
import { HttpFault } from "../../../src/sandbox/httpDouble.ts"
import { Platform } from "../../../src/services/platform/Platform.ts"
import { declaring } from "../../layers/worlds/memoryWorld.ts"
import { Vendors, vendors, vendorWorld } from "../../layers/worlds/vendorWorld.ts"

const request = { projectPath: "/srv/shop" }
const sound = { uuid: "app-shop", name: "shop", git_repository: "git@git.test:2004/ann/shop.git" }
const odd = [
  {
    uuid: "app-odd",
    name: "odd",
    is_static: 1,
    fqdn: 17,
    git_branch: { main: true },
    status: [],
    deep: { z: [1], a: 2 }
  },
  { uuid: "app-nameless" },
  { name: "nowhere" },
  { uuid: 8, name: 9, build_pack: null, git_repository: 10, base_directory: false }
]
const oddEnvs = [{ key: "HOST_PORT", value: 2100, id: {} }, { value: "lost" }, "HOST_PORT=1"]

/** A platform with these among its applications and its variables. */
const listing = Effect.gen(function*() {
  const { platform } = yield* Vendors
  const answer = (body: unknown) => HttpFault.Answer({ reply: { status: 200, body } })
  const always = { times: 1_000 }
  yield* platform.fail({ method: "GET", path: /\/applications$/ }, answer([...odd, null, "shop", sound]), always)
  yield* platform.fail({ method: "GET", path: /\/app-nameless\/envs$/ }, answer(oddEnvs), always)
})

describe.each(vendors)("odd records of a platform (%s)", (vendor) => {
  const world = vendorWorld(vendor, {
    apps: [{ ...sound, envs: { HOST_PORT: "3000" } }],
    files: declaring({ name: "shop", port: 3000 })
  })

  it.live("are listed and found as they are, and spoil none of the others", () =>
    Effect.gen(function*() {
      yield* listing
      const apps = yield* listApplications()
      expect(apps).toMatchObject([...odd, sound])
      expect(apps.map(({ _envs: envs }) => envs)).toMatchObject([
        [],
        [{ key: "HOST_PORT", value: 2100 }, { value: "lost" }],
        [],
        [],
        [{ key: "HOST_PORT" }]
      ])
      expect(apps.map(({ _host_port: port }) => port)).toEqual([null, "2100", null, null, "3000"])
      expect(Option.getOrThrow(yield* findApplication("odd")).raw).toEqual(odd[0])
    }).pipe(Effect.provide(world)))

  it.live("have ports that count", () =>
    Effect.gen(function*() {
      yield* listing
      expect(yield* nextPort).toEqual({ nextPort: 3001, usedPorts: [2010, 2100, 3000] })
    }).pipe(Effect.provide(world)))

  it.live("keep no webhook from the others", () =>
    Effect.gen(function*() {
      yield* listing
      const { results } = yield* setUpWebhooks({})
      expect(results.map(({ app, githost }) => [app, githost.split(" (")[0]])).toEqual([
        ["odd", "skipped: no git repo configured"],
        ["", "skipped: no git repo configured"],
        ["nowhere", "skipped: no git repo configured"],
        ["9", expect.stringContaining("error: Git host API 404")],
        ["shop", "created"]
      ])
      expect((yield* webhookStatus()).results).toHaveLength(5)
    }).pipe(Effect.provide(world)))

  it.live("keep no application from being compared and upserted", () =>
    Effect.gen(function*() {
      const { platform } = yield* Vendors
      yield* listing
      const body = { ...sound, name: 3, is_static: "1", fqdn: {}, base_directory: 17 }
      const full = HttpFault.Answer({ reply: { status: 200, body } })
      yield* platform.fail({ method: "GET", path: /\/app-shop$/ }, full, { times: 1_000 })
      if (vendor !== "neutral") {
        expect((yield* drift(request)).diffs.map(({ field, remote }) => [field, remote])).toContainEqual([
          "baseDirectory",
          "17"
        ])
      }
      const { changelogEntry, uuid } = yield* upsertApp(request)
      expect([uuid, changelogEntry.changes]).toEqual([
        "app-shop",
        expect.arrayContaining([
          { field: "is_static", label: "Static site", old: true, new: false },
          { field: "base_directory", label: "Base directory", old: "17", new: "/" }
        ])
      ])
    }).pipe(Effect.provide(world)))

  it.live("are skipped among the servers", () =>
    Effect.gen(function*() {
      const { platform } = yield* Vendors
      const body = [null, { uuid: 1 }, { name: "nowhere" }, { uuid: "server-web", name: "web", ip: ["10.0.0.1"] }]
      yield* platform.fail({ path: /\/servers$/ }, HttpFault.Answer({ reply: { status: 200, body } }), { times: 2 })
      const port = yield* Platform
      expect((yield* port.servers).filter(({ name }) => name === "web")).toEqual([{ uuid: "server-web", name: "web" }])
      expect(yield* port.serversBody).toEqual(body)
    }).pipe(Effect.provide(world)))
})
