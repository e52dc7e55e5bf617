import { describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import type { HookChanges } from "../../../src/sandbox/gitHost.ts"
import { patience } from "../../fixtures/patience.ts"
import { declaring } from "../../layers/worlds/memoryWorld.ts"
import { Vendors, vendors, vendorWorld } from "../../layers/worlds/vendorWorld.ts"
import { entry, history, manual, repositories, steps, withApp } from "./histories.ts"

const eachHook = (change: HookChanges) =>
  Effect.gen(function*() {
    const { state } = (yield* Vendors).gitHost
    for (const repository of repositories) {
      for (const { id } of yield* state.hooks(repository)) yield* state.update(repository, id, change)
    }
  })

/** The first hook of a repository once more. */
const anotherHook = (active: boolean) =>
  Effect.gen(function*() {
    const { state } = (yield* Vendors).gitHost
    for (const repository of repositories) {
      const [hook] = yield* state.hooks(repository)
      if (hook === undefined) continue
      const { events, secret, type, url } = hook
      yield* state.create(repository, { type, active, events, config: { url, content_type: "json", secret } })
    }
  })

const changed = (fields: Readonly<Record<string, unknown>>) =>
  withApp((id, platform) => platform.updateApplication(id, fields))

/** Changes by hand, in vendor-specific places too. */
const byHand = {
  ...manual,
  "a site or not": changed({ is_static: true, publish_directory: "/public" }),
  "no site": changed({ is_static: false }),
  "another publish directory": changed({ publish_directory: "/elsewhere" }),
  "another base directory": changed({ base_directory: "/elsewhere" }),
  "another compose file": changed({ compose_location: "/elsewhere.yml" }),
  "another repository": changed({ git_repository: "git@git.test:22/ann/elsewhere.git" }),
  "no address": changed({ domains: "" }),
  "two addresses": changed({ domains: "https://shop.example.com,https://else.example.com" }),
  "an address of a compose service": withApp((id, platform) =>
    platform.setDomain({ uuid: id, buildPack: "composestack" }, "https://else.example.com", "web")
  ),
  "an address of another compose service": withApp((id, platform) =>
    platform.setDomain({ uuid: id, buildPack: "composestack" }, "https://shop.example.com", "other")
  ),
  "an empty port variable": withApp((id, platform) => platform.createEnv(id, "HOST_PORT", "")),
  "another variable": withApp((id, platform) => platform.createEnv(id, "OTHER", "1")),
  "no webhook secret": changed({ manual_webhook_secret_githost: "" }),
  "no application": withApp((id, platform) => platform.deleteApplication(id)),
  "an inactive webhook": eachHook({ active: false }),
  "a webhook for tags": eachHook({ events: ["create"] }),
  "a webhook of another branch": eachHook({ branch_filter: "release/*" }),
  "a webhook that leads elsewhere": eachHook({ config: { url: "https://elsewhere.test" } }),
  "a second webhook": anotherHook(true),
  "a second webhook that is inactive": anotherHook(false)
} as const
type ByHand = keyof typeof byHand
const changeByHand = (name: ByHand): Effect.Effect<unknown, unknown, Effect.Effect.Context<(typeof byHand)[ByHand]>> =>
  byHand[name]
const names = Object.keys(byHand).filter((name): name is ByHand => name in byHand)

/** Histories of each vendor; BERTH_HISTORIES sets more, to find rare failures. */
const numRuns = Number(process.env["BERTH_HISTORIES"] ?? 6)

const whole = { name: "shop", buildpack: "autopack", port: 3000, domain: "shop.example.com" }
const gitHost = { repositories: Object.fromEntries(repositories.map((name) => [name, []])) }

describe.each([...vendors])("histories of an application with %s", (vendor) => {
  it(
    "leave one truth in drift, plan and verify, after any changes on either side",
    { timeout: 3_600_000 },
    () =>
      fc.assert(
        fc.asyncProperty(entry, steps(names), (first, more) =>
          Effect.runPromise(
            Effect.provide(
              history(changeByHand, first, more),
              vendorWorld(vendor, { files: declaring([]), gitHost })
            )
          )),
        { numRuns }
      )
  )

  it.live("agree on each change by hand, and after the upsert that follows it", () =>
    Effect.forEach(
      names,
      (name) => history(changeByHand, whole, [{ manual: name }, "up"]),
      { discard: true }
    ).pipe(Effect.provide(vendorWorld(vendor, { files: declaring([]), gitHost }))), 120_000 * patience)
})
