import { describe, expect, it } from "vitest"
import { findNeedsCare } from "../../../../src/pipelines/overview/needsCare.ts"
import type {
  LastRun,
  ObservedApplication,
  ObservedProject,
  ObservedServer,
  ObservedStack
} from "../../../../src/schema/overview.ts"

const observedAt = "2026-01-02T03:04:05.678Z"
const stack: ObservedStack = {
  serverId: "1",
  serverName: "Main",
  remotePath: "~/containers/shop",
  state: "running",
  containers: { up: 1, total: 2 },
  containerNames: [],
  release: null,
  observedAt
}
const lastRun: LastRun = {
  id: "run-1",
  kind: "deploy",
  state: "failed",
  requestedBy: { name: "ann", door: "web" },
  endedAt: observedAt,
  reason: "web is unhealthy"
}
const project: ObservedProject = {
  name: "shop",
  path: "/srv/shop",
  state: "running",
  stateReason: null,
  servers: [stack],
  run: null,
  changes: null,
  lastRun: null,
  problems: [],
  urls: [],
  observedAt
}
const server: ObservedServer = { id: "1", name: "Main", answers: true, latencyMs: 4, disks: [], observedAt }
const application: ObservedApplication = {
  name: "shop",
  uuid: "app-1",
  projectPath: "/srv/shop",
  status: null,
  drift: 0,
  observedAt
}
const broken = { file: "/srv/shop/compose.yml", line: 3, column: 5, reason: "is not valid YAML" }
const silent = "Connection refused"

const found = (
  { applications = [application], errors = [], projects = [project], routes = [], servers = [server] }: {
    readonly projects?: ReadonlyArray<ObservedProject>
    readonly servers?: ReadonlyArray<ObservedServer>
    readonly applications?: ReadonlyArray<ObservedApplication>
    readonly errors?: ReadonlyArray<string>
    readonly routes?: Parameters<typeof findNeedsCare>[1]
  }
) =>
  findNeedsCare({ observedAt, applications, errors, projects, servers }, routes).map((
    { kind, name, reason, severity }
  ) => `${severity} ${kind} ${name}: ${reason}`)

describe("findNeedsCare", () => {
  it.each<[what: string, given: Parameters<typeof found>[0], care: ReadonlyArray<string>]>([
    ["nothing where all is well", {}, []],
    ["a failed last run", { projects: [{ ...project, lastRun }] }, [
      "bad run shop: last deploy failed: web is unhealthy"
    ]],
    ["an interrupted last run", {
      projects: [{ ...project, lastRun: { ...lastRun, state: "interrupted", reason: null } }]
    }, ["bad run shop: last deploy was interrupted"]],
    ["no run that was cancelled", { projects: [{ ...project, lastRun: { ...lastRun, state: "cancelled" } }] }, []],
    ["a file that cannot be read, with its line", { projects: [{ ...project, problems: [broken] }] }, [
      "bad files shop: /srv/shop/compose.yml:3:5 is not valid YAML"
    ]],
    ["a crashed container by its name", {
      projects: [{
        ...project,
        state: "degraded",
        servers: [{ ...stack, state: "degraded", failing: [{ name: "web-1", status: "Exited (1) 2 days ago" }] }]
      }]
    }, ["bad stack shop: is degraded: web-1 is Exited (1) 2 days ago"]],
    ["a stopped stack", {
      projects: [{ ...project, state: "stopped", servers: [{ ...stack, containers: { up: 0, total: 1 } }] }]
    }, ["warn stack shop: is stopped: 0 of 1 containers are up on Main"]],
    ["a state that is unknown", { projects: [{ ...project, state: "unknown", stateReason: "no answer" }] }, [
      "bad stack shop: is unknown: no answer"
    ]],
    ["a cause once that several things share", {
      servers: [{ ...server, answers: false, error: silent }],
      projects: [{ ...project, state: "unknown", stateReason: silent }],
      errors: ["platform"],
      applications: [{ ...application, drift: null, error: "platform" }]
    }, [`bad server Main: ${silent}`]],
    ["a broken route", { routes: [{ name: "shop", reason: "leads to no service of the proxy file" }] }, [
      "bad route shop: leads to no service of the proxy file"
    ]],
    ["an application with differences", { applications: [{ ...application, drift: 2 }] }, [
      "warn application shop: has 2 differences from its platform.json"
    ]],
    ["no application that no project declares", {
      applications: [{ ...application, projectPath: null, error: "odd" }]
    }, []],
    ["a disk that is nearly full", {
      servers: [{
        ...server,
        disks: [{ holds: ["docker"], mountedOn: "/", totalBytes: 80_000_000_000, freeBytes: 1_000_000_000 }]
      }]
    }, ["warn disk Main: has 1.0 GB of 80.0 GB free on /"]],
    ["a disk with few inodes left", {
      servers: [{
        ...server,
        disks: [{ holds: ["docker"], mountedOn: "/", totalBytes: 8e10, freeBytes: 7e10, inodes: 1000, freeInodes: 49 }]
      }]
    }, ["warn disk Main: has 49 of 1000 inodes free on /"]]
  ])("finds %s", (_, given, care) => {
    expect(found(given)).toEqual(care)
  })

  it("lists what does not work before what should be looked at", () => {
    expect(
      found({
        applications: [{ ...application, drift: 1 }],
        projects: [{ ...project, state: "stopped" }, { ...project, name: "api", lastRun }],
        routes: [{ name: "old", reason: "lacks in the proxy file: auth" }]
      }).map((line) => line.split(" ").slice(0, 2).join(" "))
    ).toEqual([
      "bad run",
      "bad route",
      "warn stack",
      "warn application"
    ])
  })

  it("leaves a project alone while a run of it is under way", () => {
    const run = {
      id: "run-2",
      kind: "deploy" as const,
      subject: {},
      state: "running" as const,
      requestedBy: { door: "cli" as const, name: "ann" },
      requestedAt: observedAt,
      startedAt: observedAt,
      endedAt: null,
      steps: [],
      result: null,
      error: null
    }
    expect(found({ projects: [{ ...project, state: "degraded", lastRun, run }] })).toEqual([])
  })
})
