import { Effect } from "effect"
import { Berth } from "../../../client/Berth.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { flagOption } from "../../parse/parameters.ts"
import { formatPlatformPlan } from "../../plans/platformPlan.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { Screen } from "../../terminal/Screen.ts"
import { wrapText } from "../../terminal/wrapText.ts"
import { declared, formatPlanTitle, resolveAppRequest } from "./declared.ts"

export const planCommand = defineServiceCommand(
  {
    name: "plan",
    summary: "Show what berth app up would change; change nothing.",
    details: "Ends with 2 with --detailed-exitcode when something would change, or would still differ afterwards.",
    examples: ["berth app plan", "berth app plan hello --app hello"]
  },
  { ...declared, detailed: flagOption("detailed-exitcode", "End with 2 when something would change or still differ.") },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print } = yield* Screen
    const payload = yield* resolveAppRequest(input)
    const { body, value } = yield* answer((api) => api.platformPlan({ payload }))
    yield* print(
      input.json
        ? body
        : wrapText([`${formatPlanTitle(value)}:`, ...formatPlatformPlan(value, out)].join("\n"), out)
    )
    const differs = value.action !== "none" || value.stays !== undefined
    return input.detailed && differs ? exitCodes.differs : exitCodes.done
  })
)
