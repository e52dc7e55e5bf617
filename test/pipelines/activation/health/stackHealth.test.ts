import { describe, expect, it } from "vitest"
import {
  computeContainerStatus,
  computeStackStatus,
  describeComplaints,
  type RememberedContainer,
  stableAfterMillis
} from "../../../../src/pipelines/activation/health.ts"

const state = (overrides: Partial<RememberedContainer> = {}): RememberedContainer => ({
  id: "1",
  name: "shop_web_1",
  service: "web",
  status: "running",
  health: "",
  exitCode: 0,
  restartPolicy: "",
  restarts: 0,
  lastExit: undefined,
  upMillis: 60_000,
  ...overrides
})
const service = (name: string, runs = true) => ({ name, builds: false, envFiles: [], runs })

describe("containerStatus", () => {
  it.each([
    ["up without a health check", {}, "healthy"],
    ["up for too short a time to tell", { upMillis: stableAfterMillis - 1 }, "starting"],
    ["its health check passes", { health: "healthy", upMillis: 0 }, "healthy"],
    ["its health check has not run", { health: "starting" }, "starting"],
    ["its health check fails", { health: "unhealthy" }, "unhealthy"],
    ["created and not started", { status: "created" }, "starting"],
    ["in a restart loop", { status: "restarting", exitCode: 1 }, "unhealthy"],
    ["paused", { status: "paused" }, "unhealthy"],
    ["a one-shot that ended well", { status: "exited" }, "healthy"],
    ["a one-shot with a restart policy that lets it end", { status: "exited", restartPolicy: "on-failure" }, "healthy"],
    ["ended well but should always run", { status: "exited", restartPolicy: "always" }, "exited"],
    ["ended well but should run unless stopped", { status: "exited", restartPolicy: "unless-stopped" }, "exited"],
    ["a one-shot that failed", { status: "exited", exitCode: 3 }, "exited"],
    ["dead", { status: "dead" }, "exited"]
  ])("%s", (_, overrides, status) => {
    expect(computeContainerStatus(state(overrides))).toBe(status)
  })
})

describe("stackStatus", () => {
  it("is the worst of its containers", () => {
    const containers = [state(), state({ service: "db", status: "exited", exitCode: 1 })]
    expect(computeStackStatus([service("web"), service("db")], containers)).toBe("exited")
  })

  it("is missing when a service has no container", () => {
    expect(computeStackStatus([service("web"), service("db")], [state()])).toBe("missing")
    expect(computeStackStatus([service("web")], [])).toBe("missing")
  })

  it("does not wait for a service that a profile or no replica holds back", () => {
    expect(computeStackStatus([service("web"), service("debug", false)], [state()])).toBe("healthy")
  })
})

describe("containers that say nothing of the stack", () => {
  it.each([
    ["of a service that was taken out, and ended", { service: "old", status: "exited", exitCode: 1 }],
    ["of a service that a profile holds back", { service: "debug", status: "exited", exitCode: 1 }],
    ["of a command that was run once", { name: "shop_web_run_0123456789ab", status: "exited", exitCode: 1 }],
    ["of a command that was run once by compose 2", {
      name: "shop-web-run-0123456789ab",
      status: "exited",
      exitCode: 1
    }]
  ])("%s", (_, overrides) => {
    const services = [service("web"), service("debug", false)]
    expect(computeStackStatus(services, [state(), state(overrides)])).toBe("healthy")
    expect(describeComplaints(services, [state(), state(overrides)])).toBe("")
  })

  it("but what runs beside the file's services counts", () => {
    const included = state({ service: "included", health: "unhealthy" })
    expect(computeStackStatus([service("web")], [state(), included])).toBe("unhealthy")
  })
})

describe("complaints", () => {
  it("names what is missing and what ails", () => {
    const containers = [state(), state({ name: "shop_db_1", service: "db", status: "exited", exitCode: 7 })]
    expect(describeComplaints([service("web"), service("db"), service("cache")], containers)).toBe(
      "cache is missing, shop_db_1 exited with code 7"
    )
  })
})
