import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { changeRefusal } from "../../../src/pipelines/settings/settingRights.ts"
import { type Caller, CurrentCaller, limitedToReading, localCaller } from "../../../src/services/access/Caller.ts"

const refusal = (caller: Caller) => Effect.provideService(changeRefusal("deploy.pull"), CurrentCaller, caller)

it.effect("a refusal names the setting that keeps an agent from changing settings", () =>
  Effect.gen(function*() {
    expect(yield* refusal(localCaller())).toBeNull()
    expect(yield* refusal({ name: "watcher", role: "viewer" })).toBe("A viewer changes nothing")
    expect(yield* refusal(limitedToReading(localCaller()))).toBe(
      "Agents may only read here: the setting mcp.readOnly is on"
    )
  }))
