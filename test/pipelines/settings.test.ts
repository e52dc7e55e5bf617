import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { buildSettingsChanged, findChangeRefusal } from "../../src/pipelines/settings.ts"
import { type Caller, CurrentCaller, limitToReading, makeLocalCaller } from "../../src/services/access/Caller.ts"

const refusal = (caller: Caller) => Effect.provideService(findChangeRefusal("deploy.pull"), CurrentCaller, caller)

it.effect("a change of the settings is shown to a caller with a token without the words of the comments", () =>
  Effect.gen(function*() {
    const before = "# of the old key\ndeploy:\n  keepReleases: 3 # as Ann said\n"
    const after = before.replace("3", "5")
    const seenBy = (caller: Caller) =>
      Effect.map(
        Effect.provideService(buildSettingsChanged("berth.yaml", { before, after }), CurrentCaller, caller),
        ({ diff }) => diff
      )
    expect(yield* seenBy(makeLocalCaller())).toMatch(/# of the old key[^]*\+ {2}keepReleases: 5 # as Ann said/)
    const seen = yield* seenBy({ name: "ann", role: "operator" })
    expect(seen).not.toMatch(/old key|Ann said/)
    expect(seen).toContain("+  keepReleases: 5 #")
  }))

it.effect("a caller with a token sends telemetry and its headers nowhere", () =>
  Effect.gen(function*() {
    const ann: Caller = { name: "ann", role: "operator" }
    expect(yield* Effect.provideService(findChangeRefusal("telemetry.otlp"), CurrentCaller, ann)).toBe(
      "It decides where this machine sends telemetry and its headers: change it there with berth settings set " +
        "telemetry.otlp, or in the file"
    )
    expect(yield* Effect.provideService(findChangeRefusal("telemetry.headers"), CurrentCaller, makeLocalCaller()))
      .toBeNull()
  }))

it.effect("a refusal names the setting that keeps an agent from changing settings", () =>
  Effect.gen(function*() {
    expect(yield* refusal(makeLocalCaller())).toBeNull()
    expect(yield* refusal({ name: "watcher", role: "viewer" })).toBe("A viewer changes nothing")
    expect(yield* refusal(limitToReading(makeLocalCaller()))).toBe(
      "Agents may only read here: the setting mcp.readOnly is on"
    )
  }))
