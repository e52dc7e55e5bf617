import { expect, it } from "@effect/vitest"
import {
  buildApplicationRows,
  buildStackRows,
  describeNeedsCare,
  formatFirstSteps,
  suggestNext
} from "../../../src/cli/commands/overview.ts"
import type { ObservedProject, ObservedServer, ObservedStack, Overview } from "../../../src/schema/overview.ts"

const observedAt = "2026-01-02T03:04:05.678Z"
const stack = (state: ObservedStack["state"], remotePath: string): ObservedStack => ({
  serverId: "1700000000000",
  serverName: "Main",
  remotePath,
  state,
  containers: null,
  containerNames: [],
  release: null,
  observedAt
})

it("names for a stack that does not run the command that helps, ready to be pasted into a shell", () => {
  const servers = [stack("stopped", "~/containers/my shop"), stack("degraded", "/srv/shop"), stack("running", "~/x")]
  expect(describeNeedsCare({
    observedAt,
    ageMs: 0,
    projects: [{
      name: "my shop",
      path: "/home/ann/my shop",
      state: "stopped",
      stateReason: null,
      changes: null,
      servers,
      run: null,
      lastRun: null,
      problems: [],
      urls: [],
      observedAt
    }],
    needsCare: [
      {
        kind: "run",
        severity: "bad",
        name: "my shop",
        reason: "last deploy failed: web is unhealthy",
        action: "Open the run",
        runId: "01m80yqq5mpfzvahn1sfvx7mvm",
        observedAt
      },
      {
        kind: "stack",
        severity: "warn",
        name: "my shop",
        reason: "is stopped: 0 of 1 containers are up on Main",
        action: "Read its log",
        projectPath: "/home/ann/my shop",
        serverId: "1700000000000",
        remotePath: "~/containers/my shop",
        observedAt
      },
      {
        kind: "application",
        severity: "warn",
        name: "shop",
        reason: "has 2 differences from its platform.json",
        action: "See the differences",
        projectPath: "/home/ann/my shop",
        appName: "shop",
        observedAt
      }
    ],
    applications: [
      { name: "shop", uuid: null, projectPath: "/home/ann/my shop", status: null, drift: 2, observedAt }
    ],
    servers: [],
    errors: []
  })).toEqual([
    "my shop: last deploy failed: web is unhealthy: berth runs 01m80yqq5mpfzvahn1sfvx7mvm",
    "my shop is stopped: 0 of 1 containers are up on Main: berth start 'my shop' --server 1700000000000 --path '~/containers/my shop'",
    "shop has 2 differences from its platform.json: berth app drift 'my shop' --app shop"
  ])
})

it("shows the state of a project that the service computed, with the reason for an unknown one", () => {
  const project = {
    name: "api",
    path: "/home/ann/api",
    run: null,
    lastRun: null,
    problems: [],
    urls: [],
    observedAt,
    stateReason: null,
    changes: null
  }
  const stateOf = (more: Pick<ObservedProject, "servers" | "state"> & Partial<ObservedProject>) =>
    buildStackRows({ ...project, ...more }).map((row) => row[2])
  expect(stateOf({ state: "not deployed", servers: [stack("absent", "~/x")] })).toEqual(["not deployed"])
  expect(stateOf({ state: "not deployed", servers: [] })).toEqual(["not deployed"])
  expect(stateOf({ state: "unknown", stateReason: "no route", servers: [stack(null, "~/x")] }))
    .toEqual(["unknown: no route"])
  const degraded = { ...stack("degraded", "~/x"), containers: { up: 1, total: 2 } }
  expect(stateOf({ state: "degraded", servers: [degraded, stack("running", "~/x")] }))
    .toEqual(["degraded (1/2)", "running"])
  expect(stateOf({ state: "not deployed", servers: [stack("absent", "~/x"), stack("absent", "~/y")] }))
    .toEqual(["not deployed", "not deployed"])
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
  expect(buildApplicationRows({
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
    needsCare: [],
    errors: [shared]
  })).toEqual([
    ["shop", "not known", ""],
    ["blog", "Not compared: too late", ""],
    ["wiki", "running", "no drift"],
    ["mail", "not on the platform", ""]
  ])
})

const fresh: Overview = {
  observedAt,
  ageMs: 0,
  projects: [],
  applications: [],
  servers: [],
  needsCare: [],
  errors: []
}
const main: ObservedServer = { id: "1", name: "Main", answers: true, latencyMs: 1, disks: [], observedAt }
const projectOf = (name: string, servers: ReadonlyArray<ObservedStack>): ObservedProject => ({
  name,
  path: `/home/ann/${name}`,
  state: "not deployed",
  stateReason: null,
  changes: null,
  servers,
  run: null,
  lastRun: null,
  problems: [],
  urls: [],
  observedAt
})
const surface = { isTerminal: false, columns: 80, hasColor: false }

it("shows the first steps that the service names, and the command for the next one", () => {
  const shown = (overview: Overview) => [formatFirstSteps(overview, surface), suggestNext(overview)[0]]
  expect(shown({ ...fresh, firstStep: "projects" })).toEqual([
    ["First steps", "  → Name the directory of the projects", "  - Add a server", "  - Deploy a project"],
    "berth settings set projects.root ~/projects --create"
  ])
  const projects = [projectOf("shop", [])]
  expect(shown({ ...fresh, projects, firstStep: "server" })).toEqual([
    ["First steps", "  ✓ Name the directory of the projects", "  → Add a server", "  - Deploy a project"],
    "berth server add <name> <user@host>"
  ])
  expect(shown({ ...fresh, projects, servers: [main], firstStep: "deploy" })).toEqual([
    ["First steps", "  ✓ Name the directory of the projects", "  ✓ Add a server", "  → Deploy a project"],
    "berth init shop"
  ])
  const prepared = [projectOf("--yes", [stack("absent", "~/x")])]
  expect(shown({ ...fresh, projects: prepared, servers: [main], firstStep: "deploy" })[1])
    .toBe("berth deploy /home/ann/--yes")
  expect(shown({ ...fresh, projects: prepared, servers: [main] })).toEqual([[], "berth deploy /home/ann/--yes"])
})
