import { Effect, Redacted } from "effect"
import { ServerUnreachable } from "../../../src/schema/ssh.ts"
import { declaring, type MemoryWorld } from "../../layers/worlds/memoryWorld.ts"

const hookUrl = "http://platform.test/webhooks/source/githost/events/manual"
const entry = { name: "shop", port: 3000, domain: "shop.example.com" }
export const live = {
  uuid: "app-1",
  name: "shop",
  git_repository: "git@git.test:2004/ann/shop.git",
  publish_directory: "/",
  manual_webhook_secret_githost: "hook-secret"
}
const hooks = { repositories: { "ann/shop": [{ url: hookUrl, active: true }] } }
const noSecret = { "gitHost.webhookSecret": Redacted.make("") }

/** State before an upsert, the planned step, and the result. */
export interface PlanCase {
  readonly step: string
  readonly kind: "nothing" | "change" | "skip" | "refused" | "unreadable"
  readonly world: MemoryWorld
  readonly detail: string
  /** Step at which the upsert stops, if it does. */
  readonly stops?: string
  /** Planned words for a step with an unknown outcome. */
  readonly will?: "change" | "nothing"
  /** Unreadable parts, in words of the plan. */
  readonly unknown?: string
  readonly warns?: string
  /** Planned calls that are not made, since one before them was refused. */
  readonly leavesOut?: ReadonlyArray<string>
  /** The fields that would still change after the upsert. */
  readonly remains?: ReadonlyArray<string>
  /** The fields that would change. */
  readonly fields?: ReadonlyArray<string>
}

/** A world in which the application is as it is declared. */
export const there = (platform: MemoryWorld["platform"] = {}, more: Partial<MemoryWorld> = {}): MemoryWorld => ({
  files: declaring({ name: "shop" }),
  gitHost: hooks,
  platform: { applications: [live], ...platform },
  ...more
})

/** Each of the ten steps in each way that it can stand. */
export const planCases: ReadonlyArray<PlanCase> = [
  { step: "config", kind: "nothing", world: there(), detail: "shop: autopack, no port" },
  {
    step: "config",
    kind: "nothing",
    world: there({}, { files: declaring({ name: "shop", domian: "shop.example.com" }) }),
    detail: "shop: autopack, no port",
    warns: "platform.json, entry 1 (\"shop\"): domian is not a known field. Did you mean \"domain\"?"
  },
  { step: "server", kind: "nothing", world: there(), detail: "server server-main at 192.168.1.20" },
  { step: "check", kind: "nothing", world: there(), detail: "UPDATE app-1" },
  { step: "check", kind: "nothing", world: { files: declaring({ name: "shop" }) }, detail: "CREATE" },
  { step: "validate", kind: "nothing", world: there(), detail: "no changes" },
  {
    step: "validate",
    kind: "nothing",
    world: there({ applications: [{ ...live, git_branch: "old" }] }),
    detail: "1 change: Branch",
    fields: ["git_branch"]
  },
  { step: "sync", kind: "nothing", world: there(), detail: "app-1 is as declared; its fields are written again" },
  {
    step: "sync",
    kind: "change",
    world: there({ applications: [{ ...live, git_branch: "old", base_directory: "/web" }] }),
    detail: "updates app-1: 2 changes: Branch, Base directory",
    fields: ["git_branch", "base_directory"]
  },
  {
    step: "sync",
    kind: "change",
    world: { files: declaring({ name: "shop" }), settings: noSecret },
    detail: "creates \"shop\"",
    fields: ["_action", "build_pack", "git_branch", "base_directory", "git_repository"]
  },
  {
    step: "sync",
    kind: "refused",
    world: { files: declaring({ name: "shop" }), without: ["platform.projectUuid"] },
    detail: "platform.projectUuid",
    stops: "sync"
  },
  {
    step: "sync",
    kind: "refused",
    world: there({ applications: [{ ...live, git_branch: "old" }], failing: { updateApplication: 422 } }),
    detail: "updates app-1: 1 change: Branch",
    will: "change",
    stops: "sync",
    fields: ["git_branch"],
    remains: ["git_branch", "platform.changelog.json", "deployment"]
  },
  {
    step: "sync",
    kind: "refused",
    world: { files: declaring({ name: "shop" }), platform: { failing: { createApplication: 422 } } },
    detail: "creates \"shop\"",
    will: "change",
    stops: "sync"
  },
  {
    step: "sync",
    kind: "change",
    world: { files: declaring({ name: "shop", static: true }) },
    detail: "creates \"shop\"",
    fields: ["is_static", "publish_directory"],
    remains: ["publish_directory", "platform.changelog.json", "deployment"]
  },
  { step: "env", kind: "nothing", world: there(), detail: "no port" },
  {
    step: "env",
    kind: "nothing",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "3000" } }] }, {
      files: declaring({ name: "shop", port: 3000 })
    }),
    detail: "HOST_PORT is 3000 already"
  },
  {
    step: "env",
    kind: "change",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "2999" } }] }, {
      files: declaring({ name: "shop", port: 3000 })
    }),
    detail: "changes HOST_PORT from 2999 to 3000",
    fields: ["HOST_PORT"]
  },
  {
    step: "env",
    kind: "change",
    world: there({}, { files: declaring({ name: "shop", port: 3000 }) }),
    detail: "sets HOST_PORT to 3000",
    fields: ["HOST_PORT"]
  },
  {
    step: "env",
    kind: "refused",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "2999" } }], hidden: ["HOST_PORT"] }, {
      files: declaring({ name: "shop", port: 3000 })
    }),
    detail: "HOST_PORT is set on the platform, but its value cannot be read",
    stops: "env"
  },
  {
    step: "env",
    kind: "unreadable",
    world: there({ failing: { envs: 500 } }, { files: declaring({ name: "shop", port: 3000 }) }),
    detail: "sets HOST_PORT to 3000",
    fields: ["HOST_PORT"],
    remains: ["HOST_PORT", "platform.changelog.json", "deployment"]
  },
  {
    step: "env",
    kind: "refused",
    world: there({ failing: { createEnv: 422 } }, { files: declaring({ name: "shop", port: 3000 }) }),
    detail: "sets HOST_PORT to 3000",
    will: "change",
    stops: "env",
    fields: ["HOST_PORT"],
    remains: ["HOST_PORT", "platform.changelog.json", "deployment"]
  },
  { step: "route", kind: "skip", world: there(), detail: "no domain" },
  {
    step: "route",
    kind: "nothing",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "2010" } }] }, {
      files: declaring({ name: "shop", port: 2010, domain: "blog.example.com" })
    }),
    detail: "blog.example.com is in the proxy file already"
  },
  {
    step: "route",
    kind: "change",
    world: there({ applications: [{ ...live, envs: { HOST_PORT: "3000" } }] }, { files: declaring(entry) }),
    detail: "route shop is inserted: shop.example.com to http://192.168.1.20:3000",
    fields: ["traefik_route"]
  },
  {
    step: "route",
    kind: "change",
    world: there({ applications: [{ ...live, fqdn: "https://old.example.com", envs: { HOST_PORT: "2010" } }] }, {
      files: declaring({ name: "shop", port: 2010, domain: "blog.example.com" })
    }),
    detail: "blog.example.com is in the proxy file already",
    fields: ["fqdn"]
  },
  {
    step: "route",
    kind: "change",
    world: there({}, { files: declaring({ name: "shop", domain: "shop.example.com", server: "localhost" }) }),
    detail: "lets the platform serve https://shop.example.com",
    fields: ["fqdn"]
  },
  {
    step: "route",
    kind: "nothing",
    world: there({ applications: [{ ...live, fqdn: "https://shop.example.com" }] }, {
      files: declaring({ name: "shop", domain: "shop.example.com", server: "localhost" })
    }),
    detail: "the platform serves https://shop.example.com already"
  },
  {
    step: "route",
    kind: "refused",
    world: there({ applications: [{ ...live, name: "blog", envs: { HOST_PORT: "3000" } }] }, {
      files: declaring({ ...entry, name: "blog" })
    }),
    detail: "The route name \"blog\" is taken",
    stops: "route"
  },
  {
    step: "route",
    kind: "refused",
    world: there({}, { files: declaring({ ...entry, name: "---" }) }),
    detail: "A route is named by letters and digits",
    stops: "route"
  },
  {
    step: "route",
    kind: "refused",
    world: there({}, { files: declaring(entry), proxy: "http:\n  routers: {}\n" }),
    detail: "was left as it is",
    stops: "route"
  },
  {
    step: "route",
    kind: "unreadable",
    world: there({}, { files: declaring(entry), without: ["proxy.configFile"] }),
    detail: "proxy.configFile",
    stops: "route"
  },
  {
    step: "route",
    kind: "unreadable",
    world: there({}, {
      files: declaring(entry),
      unreadProxy: Effect.succeed({ code: 1, stdout: "", stderr: "cat: dynamic.yml: Permission denied" })
    }),
    detail: "Permission denied",
    stops: "route"
  },
  {
    step: "route",
    kind: "unreadable",
    world: there({}, {
      files: declaring(entry),
      unreadProxy: Effect.fail(new ServerUnreachable({ server: "Main", host: "10.0.0.1", port: 22, reason: "refused" }))
    }),
    detail: "Cannot reach server \"Main\"",
    stops: "route"
  },
  {
    step: "route",
    kind: "refused",
    world: there({ failing: { setDomain: 422 } }, {
      files: declaring({ name: "shop", domain: "shop.example.com", server: "localhost" })
    }),
    detail: "lets the platform serve https://shop.example.com",
    will: "change",
    stops: "route",
    fields: ["fqdn"],
    remains: ["fqdn", "deployment"]
  },
  { step: "changelog", kind: "nothing", world: there(), detail: "platform.changelog.json: an entry with no changes" },
  {
    step: "changelog",
    kind: "change",
    world: there({ applications: [{ ...live, git_branch: "old" }] }),
    detail: "platform.changelog.json: an entry with 1 change: Branch",
    fields: ["git_branch"]
  },
  {
    step: "changelog",
    kind: "refused",
    world: there({}, {
      files: { ...declaring({ name: "shop" }), "/srv/shop/platform.changelog.json": { directory: true } }
    }),
    detail: "platform.changelog.json",
    stops: "changelog"
  },
  {
    step: "changelog",
    kind: "unreadable",
    world: there({ applications: [{ ...live, git_branch: "old" }] }, {
      files: { ...declaring({ name: "shop" }), "/srv/shop/platform.changelog.json": "{ not json" }
    }),
    detail: "platform.changelog.json: an entry with 1 change: Branch",
    fields: ["git_branch"],
    warns: "platform.changelog.json is not a JSON array: it is kept beside as .corrupt, and a new one is begun"
  },
  {
    step: "deploy",
    kind: "refused",
    world: there({ applications: [{ ...live, git_branch: "old" }], failing: { deploy: 400 } }),
    detail: "the platform is asked to deploy",
    will: "change",
    stops: "deploy",
    fields: ["git_branch"]
  },
  {
    step: "deploy",
    kind: "refused",
    world: there({ notQueued: "it is busy" }),
    detail: "nothing new to deploy",
    will: "nothing"
  },
  { step: "deploy", kind: "nothing", world: there(), detail: "nothing new to deploy" },
  {
    step: "deploy",
    kind: "change",
    world: there({ applications: [{ ...live, git_branch: "old" }] }),
    detail: "the platform is asked to deploy",
    fields: ["git_branch"]
  },
  { step: "webhook", kind: "nothing", world: there(), detail: "the webhook is there already" },
  {
    step: "webhook",
    kind: "change",
    world: there({ applications: [{ ...live, manual_webhook_secret_githost: "" }] }, {
      gitHost: { repositories: { "ann/shop": [] } }
    }),
    detail: "sets up: Webhook secret, Webhook",
    fields: ["manual_webhook_secret_githost", "url"]
  },
  {
    step: "webhook",
    kind: "change",
    world: there({}, { gitHost: { repositories: { "ann/shop": [{ url: hookUrl, active: false }] } } }),
    detail: "sets up: Webhook 1 active",
    fields: ["active"]
  },
  {
    step: "webhook",
    kind: "skip",
    world: there({}, { settings: noSecret }),
    detail: "no webhook secret is configured"
  },
  {
    step: "webhook",
    kind: "nothing",
    world: there({}, {
      gitHost: { repositories: { "ann/shop": [{ url: hookUrl, events: ["create"], branchFilter: "release/*" }] } }
    }),
    detail: "the webhook is there already",
    warns:
      "Hook 1 is for branches like release/* only, and the application is built from master: Change the branch filter"
  },
  {
    step: "webhook",
    kind: "refused",
    world: there({
      applications: [{ ...live, manual_webhook_secret_githost: "" }],
      failing: { setWebhookSecret: 403 }
    }),
    detail: "sets up: Webhook secret",
    will: "change",
    fields: ["manual_webhook_secret_githost"],
    remains: ["manual_webhook_secret_githost"],
    leavesOut: ["updateHook"]
  },
  {
    step: "webhook",
    kind: "unreadable",
    world: there({ hidden: ["manual_webhook_secret_githost"] }),
    detail: "the webhook is there already",
    unknown: "the application's webhook secret: the token lacks an ability"
  },
  {
    step: "webhook",
    kind: "unreadable",
    world: there({}, { gitHost: { failing: { hooks: 403 } } }),
    detail: "the webhook could not be set up: Git host API 403: not today"
  }
]
