import { describe, expect, it } from "vitest"
import { describeRemarks, parseStartRemarks } from "../../../src/pipelines/activation/activate.ts"

describe("the remarks of a start", () => {
  const unset = "The \"TAG\" variable is not set. Defaulting to a blank string."
  const lines = [
    "loaded\tx",
    "warning\ttime=\"2026-01-02T03:04:05Z\" level=warning msg=\"The \\\"TAG\\\" variable is not set. Defaulting to a blank string.\"",
    "warning\tThe TAG variable is not set. Defaulting to a blank string.",
    "warning\ttime=\"2026-01-02T03:04:05Z\" level=warning msg=\"/srv/compose.yml: the attribute `version` is obsolete, it will be ignored\"",
    `warning\t${unset}`,
    "warning\tFound orphan containers (app_old_1) for this project. If you removed or renamed this service, clean up.",
    "removed\tweb.env",
    "orphan\told",
    "orphan\told"
  ]

  it("are what compose warns of, each once and without what is not worth telling, and what was removed", () => {
    expect(parseStartRemarks(lines)).toEqual({
      warnings: [unset, "The TAG variable is not set. Defaulting to a blank string."],
      removed: ["web.env"],
      orphans: ["old"]
    })
  })

  it("are told in bounds, and not at all when there are none", () => {
    expect(describeRemarks({ orphans: [], removed: [], warnings: [] })).toBe("")
    expect(describeRemarks({ orphans: ["old"], removed: [".env", "a"], warnings: [unset] })).toBe(
      " Removed the containers of old, no longer in the compose files." +
        " Removed from the server, no longer in the project: .env, a. " +
        "Compose warns: The \"TAG\" variable is not set. Defaulting to a blank string."
    )
    const many = Array.from({ length: 9 }, (_, at) => `${at}${"x".repeat(5_000)}`)
    const told = describeRemarks({ orphans: [], removed: [], warnings: many })
    expect(told.length).toBeLessThan(1_700)
    expect(told).toMatch(/ and 4 more\.$/)
  })
})
