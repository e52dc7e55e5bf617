import { expect, it } from "@effect/vitest"
import { applicationRows, careIn } from "../../../src/cli/commands/overview.ts"
import type { ObservedStack } from "../../../src/schema/Overview.ts"

const observedAt = "2026-01-02T03:04:05.678Z"
const stack = (state: ObservedStack["state"], remotePath: string): ObservedStack => ({
  serverId: "1700000000000",
  serverName: "Main",
  remotePath,
  state,
  containers: null,
  release: null,
  observedAt
})

it("names for a stack that does not run the command that helps, ready to be pasted into a shell", () => {
  const servers = [stack("stopped", "~/containers/my shop"), stack("degraded", "/srv/shop"), stack("running", "~/x")]
  expect(careIn({
    observedAt,
    ageMs: 0,
    projects: [{ name: "my shop", path: "/home/ann/my shop", servers, run: null, observedAt }],
    applications: [
      { name: "shop", uuid: null, projectPath: "/home/ann/my shop", status: null, drift: 2, observedAt }
    ],
    servers: [],
    errors: []
  })).toEqual([
    "my shop is stopped on Main: berth start 'my shop' --server 1700000000000 --path '~/containers/my shop'",
    "my shop is degraded on Main: berth logs 'my shop' --server 1700000000000 --path /srv/shop",
    "shop has 2 differences from its platform.json: berth app drift '/home/ann/my shop' --app shop"
  ])
})

it("says once what is wrong with all applications, and beside each what is wrong with it", () => {
  const shared = "The applications of the platform are not known: The setting platform.url is missing"
  const application = (name: string, more: object) => ({
    name,
    uuid: null,
    projectPath: null,
    status: null,
    drift: null,
    observedAt,
    ...more
  })
  expect(applicationRows({
    observedAt,
    ageMs: 0,
    projects: [],
    applications: [
      application("shop", { error: shared }),
      application("blog", { error: "Not compared: too late" }),
      application("wiki", { status: "running", drift: 0 }),
      application("mail", {})
    ],
    servers: [],
    errors: [shared]
  })).toEqual([
    ["shop", "not known", ""],
    ["blog", "Not compared: too late", ""],
    ["wiki", "running", "no drift"],
    ["mail", "not on the platform", ""]
  ])
})
