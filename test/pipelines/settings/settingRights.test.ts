import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { changeRefusal } from "../../../src/pipelines/settings/settingRights.ts"
import { type Caller, CurrentCaller, limitedToReading, localCaller } from "../../../src/services/access/Caller.ts"

const refusal = (caller: Caller) => Effect.provideService(changeRefusal("deploy.pull"), CurrentCaller, caller)

it.effect("a caller with a token sends telemetry and its headers nowhere", () =>
  Effect.gen(function*() {
    const ann: Caller = { name: "ann", role: "operator" }
    expect(yield* Effect.provideService(changeRefusal("telemetry.otlp"), CurrentCaller, ann)).toBe(
      "It decides where this machine sends telemetry and its headers: change it there with berth settings set " +
        "telemetry.otlp, or in the file"
    )
    expect(yield* Effect.provideService(changeRefusal("telemetry.headers"), CurrentCaller, localCaller())).toBeNull()
  }))

it.effect("a refusal names the setting that keeps an agent from changing settings", () =>
  Effect.gen(function*() {
    expect(yield* refusal(localCaller())).toBeNull()
    expect(yield* refusal({ name: "watcher", role: "viewer" })).toBe("A viewer changes nothing")
    expect(yield* refusal(limitedToReading(localCaller()))).toBe(
      "Agents may only read here: the setting mcp.readOnly is on"
    )
  }))
