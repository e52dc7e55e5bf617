import { Effect } from "effect"
import { Berth } from "../../../client/Berth.ts"
import { serviceCommand } from "../../options/serviceCommand.ts"
import { flag } from "../../parse/parameters.ts"
import { platformPlanLines } from "../../plans/platformPlan.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { Screen } from "../../terminal/Screen.ts"
import { wrapText } from "../../terminal/wrapText.ts"
import { declared, requestOf, titleOf } from "./declared.ts"

export const planCommand = serviceCommand(
  {
    name: "plan",
    summary: "Show what berth app up would change; change nothing.",
    details: "Ends with 2 with --detailed-exitcode when something would change, or would still differ afterwards.",
    examples: ["berth app plan", "berth app plan hello --app hello"]
  },
  { ...declared, detailed: flag("detailed-exitcode", "End with 2 when something would change or still differ.") },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print } = yield* Screen
    const payload = yield* requestOf(input)
    const { body, value } = yield* answer((api) => api.platformPlan({ payload }))
    yield* print(
      input.json
        ? body
        : wrapText([`${titleOf(value)}:`, ...platformPlanLines(value, out)].join("\n"), out)
    )
    const differs = value.action !== "none" || value.stays !== undefined
    return input.detailed && differs ? exitCodes.differs : exitCodes.done
  })
)
