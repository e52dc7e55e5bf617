import { Effect } from "effect"
import { Berth } from "../../../client/Berth.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { formatDuration } from "../../terminal/quantities.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"
import { makeStyler } from "../../terminal/style.ts"
import { wrapText } from "../../terminal/wrapText.ts"
import { declared, resolveAppRequest } from "./declared.ts"

export const verifyCommand = defineServiceCommand(
  {
    name: "verify",
    summary: "Follow the way to an application: platform, port, route, HTTPS.",
    details: "Ends with 1 when a part of the way fails.",
    examples: ["berth app verify hello"]
  },
  { ...declared },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print } = yield* Screen
    const style = makeStyler(out)
    const payload = yield* resolveAppRequest(input)
    const { body, value: { failing, hops } } = yield* answer((api) => api.verify({ payload }))
    yield* print(
      input.json ? body : wrapText(
        hops.map(({ detail, hop, millis, ok }) =>
          `${ok ? style("green", "✓") : style("red", "✗")} ${hop}: ${escapeInline(detail)} ${
            style("dim", `(${formatDuration(millis)})`)
          }`
        ).join("\n"),
        out
      )
    )
    return failing === null ? exitCodes.done : exitCodes.failed
  })
)
