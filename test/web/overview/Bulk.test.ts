import { describe, expect, it } from "vitest"
import type { ContainerPlan } from "../../../src/schema/deploys.ts"
import { buildDeployItem, buildRestartItem } from "../../../src/web/overview/Bulk.tsx"

const plan = (fields: Partial<ContainerPlan> = {}): ContainerPlan => ({
  planHash: "hash",
  projectPath: "/projects/hello",
  serverId: "1",
  remotePath: "~/containers/hello",
  files: [{ name: "compose.yml", change: "changed", bytes: 100 }, { name: ".env", change: "same", bytes: 10 }],
  images: [],
  services: [],
  bytesTotal: 100,
  bytesToSend: 100,
  obstacles: [],
  warnings: [],
  ...fields
})
const item = (fields: Partial<Parameters<typeof buildDeployItem>[0]>) =>
  buildDeployItem({ data: undefined, error: null, isFetching: false, ...fields })

describe("deployItem", () => {
  it("waits for a plan, also where an old one is planned anew", () => {
    expect(item({ isFetching: true }).standing).toBe("planning")
    expect(item({ isFetching: true, data: plan() }).standing).toBe("planning")
  })

  it("says in words why a project is left out", () => {
    expect(item({ error: new Error("Main does not answer") }).words).toBe("is left out: Main does not answer")
    expect(item({ data: plan({ obstacles: ["The disk is full"] }) }).words).toBe("is left out: The disk is full")
    expect(item({})).toEqual({ standing: "left out", words: "is left out: it has no plan" })
  })

  it("counts what would change", () => {
    expect(item({ data: plan() })).toEqual({ standing: "ready", words: "1 change" })
    expect(item({ data: plan({ files: [] }) }).words).toMatch(/^nothing differs/)
  })
})

describe("restartItem", () => {
  it("leaves out what does not run", () => {
    expect(buildRestartItem(true).standing).toBe("ready")
    expect(buildRestartItem(false)).toEqual({ standing: "left out", words: "is left out: it does not run" })
  })
})
