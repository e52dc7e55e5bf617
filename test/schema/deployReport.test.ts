import { describe, expect, it } from "vitest"
import {
  computeOutcome,
  escapeMarkdown,
  formatPlanReport,
  formatResultReport,
  formatRollbackReport,
  longestReport
} from "../../src/schema/deployReport.ts"
import { type ContainerPlan, hasPlannedChanges } from "../../src/schema/deploys.ts"

const plan: ContainerPlan = {
  planHash: "hash-of-the-plan",
  projectPath: "/home/ann/projects/shop",
  serverId: "main",
  remotePath: "~/containers/shop",
  files: [
    { name: "compose.yml", change: "changed", bytes: 2048 },
    { name: ".env", change: "same", bytes: 10 }
  ],
  images: [],
  services: [{ name: "web", change: "recreate" }, { name: "db", change: "keep" }],
  bytesToSend: 2048,
  bytesTotal: 4096,
  obstacles: [],
  warnings: []
}

describe("a report of a plan", () => {
  it("names what changes, where, and the hash, and nothing that stays", () => {
    const text = formatPlanReport(plan, "Main")
    expect(text).toContain("### `shop` would change")
    expect(text).toContain("`~/containers/shop` on `Main`")
    expect(text).toContain("- file `compose.yml`: changed, 2.0 kB")
    expect(text).toContain("- service `web`: recreate")
    expect(text).toContain("Plan `hash-of-the-plan`")
    expect(text).not.toMatch(/\.env|db/)
  })

  it("names what stays on the server, and what is kept before it or comes back", () => {
    const backups = [{ item: "database", source: "postgres in db", bytesLast: null, stops: ["web"], seconds: null }]
    const text = formatPlanReport({
      ...plan,
      backups,
      references: [{ path: "uploads", at: "compose.yml:7", decided: "data" }, {
        path: "nginx.conf",
        at: "compose.yml:6",
        decided: "brought"
      }]
    })
    expect(text).toContain("**Stays**\n\n- uploads stays on the server: compose.yml:7\n")
    expect(text).toContain("**Backups before it**\n\n- database, postgres in db: the first one; stops web meanwhile\n")
    expect(text).not.toContain("nginx.conf")
    const rollback = formatRollbackReport({
      serverId: "main",
      remotePath: "~/containers/shop",
      release: {
        id: "11",
        at: "2026-01-02T03:04:05Z",
        by: "ann",
        current: false,
        files: [],
        available: true,
        images: []
      },
      files: [],
      services: [],
      backups,
      restore: {
        backup: {
          id: "7",
          release: "11",
          takenAt: "2026-01-02T04:00:00Z",
          by: "ann",
          trigger: "deploy",
          items: [],
          copies: [],
          onServer: true
        },
        stops: [],
        items: [{ name: "database", bytes: 2048, sha256: "" }],
        lost: { since: "2026-01-02T04:00:00Z", releases: [] },
        warnings: []
      },
      obstacles: [],
      warnings: []
    })
    expect(rollback).toContain("- database of backup 7, 2.0 kB\n")
    expect(rollback.replaceAll("\\", "")).toContain("- What was written after 2026-01-02T04:00:00Z is replaced")
  })

  it("says that nothing would change, or what is in the way", () => {
    expect(formatPlanReport({ ...plan, files: [], services: [] })).toMatch(/is up to date[\s\S]*Nothing would change\./)
    expect(formatPlanReport({ ...plan, obstacles: ["port 80 is used"] })).toMatch(
      /cannot be deployed now[\s\S]*\*\*In the way\*\*\n\n- port 80 is used/
    )
  })

  it("says of a change what exit codes and outputs of jobs say, also where secrets are not resolved", () => {
    const secret = (change: "same" | "changed" | "unknown") => ({
      name: "KEY",
      source: "op",
      change,
      services: ["web"]
    })
    const quiet = { ...plan, files: [], services: [{ name: "web", change: "keep" as const }] }
    for (
      const each of [
        plan,
        quiet,
        { ...quiet, secrets: [secret("unknown")] },
        { ...quiet, secrets: [secret("same")] },
        { ...plan, secrets: [secret("changed")] }
      ]
    ) {
      const text = formatPlanReport(each)
      expect([/^### .* would change$/m.test(text), text.includes("Nothing would change.")])
        .toEqual([hasPlannedChanges(each), !hasPlannedChanges(each)])
    }
    expect(formatPlanReport({ ...quiet, secrets: [secret("unknown")] })).toContain(
      "**Unknown**\n\n- secret `KEY`: not resolved"
    )
  })

  it("lets no name or text become markup, a mention, a link or a line of its own", () => {
    const hostile = "`x` <img src=x> @team #1 https://evil.invalid [a](b)\n### Approved | **yes** <!-- "
    const text = formatPlanReport({
      ...plan,
      files: [{ name: hostile, change: "new", bytes: 1 }],
      warnings: [hostile]
    })
    expect(text.split("\n").filter((line) => line.startsWith("###"))).toHaveLength(1)
    const [warning = ""] = text.split("\n").filter((line) => line.startsWith("- \\`x"))
    expect(warning).not.toMatch(/(?<!\\)[`<[\]|](?!!-- -->)|@team|#1|https:\/\//)
    // In code spans nothing is markup: the fence is longer than any run of backticks in it.
    expect(text).toContain("file `` `x` <img src=x> @team")
    expect(escapeMarkdown("a_b *c*\n\n# d")).toBe("a\\_b \\*c\\* #<!-- --> d")
  })

  it("is at most as long as a comment can be, and says where it was cut", () => {
    const files = Array.from({ length: 5000 }, (_, at) => ({ name: `file-${at}`, change: "new" as const, bytes: 1 }))
    const text = formatPlanReport({ ...plan, files })
    expect(text.length).toBeLessThanOrEqual(longestReport)
    expect(text).toMatch(/…\n\nThe report is cut here, since it is longer than a comment can be\.\n$/)
  })
})

describe("a report of an outcome", () => {
  it("tells an unhealthy version from one that was rolled back", () => {
    expect(computeOutcome({ success: true, healthy: true })).toBe("healthy")
    expect(computeOutcome({ success: true, healthy: false })).toBe("unhealthy")
    expect(computeOutcome({ success: false, healthy: true })).toBe("rolledBack")
    const text = formatResultReport("shop", {
      outcome: "rolledBack",
      message: "web exited",
      next: ["  berth logs shop"]
    })
    expect(text).toMatch(/`shop`: rolled back\n\nweb exited[\s\S]*- `berth logs shop`/)
  })
})
