import { describe, expect, it } from "vitest"
import { computeRunVerdict, describeShortfall, findFinalMessage, type RunKind } from "../../../src/schema/runs.ts"

const message = "It is so.\nweb-1 (exited, exit code 3), has logged nothing"
const deployed = (success: boolean, healthy: boolean, status: string) => ({ success, healthy, status, message })
const build = { success: false, exitCode: 2, output: "no", tarFile: null, durationMs: 1 }

const cases: ReadonlyArray<readonly [RunKind, string | undefined, unknown, string]> = [
  ["deploy", undefined, deployed(true, true, "healthy"), "done"],
  ["deploy", undefined, deployed(true, false, "exited"), "unhealthy"],
  ["deploy", undefined, deployed(false, false, "unhealthy"), "failed"],
  ["rollback", undefined, deployed(true, true, "healthy"), "done"],
  ["rollback", undefined, deployed(true, false, "starting"), "unhealthy"],
  ...(["start", "restart"] as const).flatMap((action) => [
    ["stack" as const, action, { success: true, status: "healthy", message }, "done"] as const,
    ...["starting", "unhealthy", "exited", "missing"].map((status) =>
      ["stack" as const, action, { success: true, status, message }, "unhealthy"] as const
    )
  ]),
  ["stack", "stop", { success: true, status: "exited", message }, "done"],
  ["stack", "remove", { success: true, status: "missing", message }, "done"],
  ["build", undefined, { ...build, success: true, exitCode: 0 }, "done"],
  ["build", undefined, build, "failed"],
  ["pull", undefined, { files: [] }, "done"],
  ["upsert", undefined, { success: true, steps: [] }, "done"]
]

describe("runVerdict", () => {
  it.each(cases)("of %s %s %j is %4$s", (kind, action, result, verdict) => {
    expect(computeRunVerdict({ kind, subject: action === undefined ? {} : { action } }, result)).toBe(verdict)
  })

  it("takes what is no result of this version for done", () => {
    for (const result of [null, 1, "text", [], {}]) {
      expect(computeRunVerdict({ kind: "deploy", subject: {} }, result)).toBe("done")
    }
  })
})

describe("why a run whose result is not good has failed", () => {
  it("is one line, and the whole message is its last words", () => {
    expect(describeShortfall(deployed(false, false, "unhealthy"))).toBe("It is so.")
    expect(describeShortfall(build)).toBe("The script ended with exit code 2")
    expect(describeShortfall({ ...build, exitCode: null })).toBe("The script was stopped before it had ended")
    expect(findFinalMessage({ error: { status: 200, error: "It is so." }, result: { message } })).toBe(message)
    expect(findFinalMessage({ error: { status: 500, error: "It broke" }, result: null })).toBe("It broke")
    expect(findFinalMessage({ error: null, result: null })).toBeUndefined()
  })
})
