import { Effect } from "effect"
import { Berth } from "../../../client/Berth.ts"
import { differencesIn, type Drift } from "../../../schema/applications/Drift.ts"
import { pluralize } from "../../../schema/words/pluralize.ts"
import { yes } from "../../options/common.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { formatDriftTable, formatRemedies, formatUnknownFields } from "../../plans/driftLines.ts"
import { formatPlatformPlan } from "../../plans/platformPlan.ts"
import { followRun } from "../../runs/followRun.ts"
import { confirm } from "../../terminal/confirm.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"
import { declared, formatPlanTitle, resolveAppRequest } from "./declared.ts"

/** Prints differences that an upsert did not resolve. */
const printRemaining = (drift: Drift) =>
  Effect.gen(function*() {
    const { err, say } = yield* Screen
    const differences = formatDriftTable(drift, err)
    if (differences !== undefined) yield* say(differences)
    yield* Effect.forEach([...formatRemedies(drift), ...formatUnknownFields(drift)], (line) => say(line))
  })

export const upCommand = defineServiceCommand(
  {
    name: "up",
    summary: "Bring an application to what its project declares: plan, question, run.",
    details: "Ends with 2 when something still differs afterwards; berth app drift shows it again.",
    examples: ["berth app up", "berth app up hello --yes"]
  },
  { ...declared, yes },
  Effect.fnUntraced(function*(input) {
    const { use } = yield* Berth
    const { err, print, say } = yield* Screen
    const payload = yield* resolveAppRequest(input)
    const plan = yield* use((api) => api.platformPlan({ payload }))
    const what = formatPlanTitle(plan)
    yield* say([`${what}:`, ...formatPlatformPlan(plan, err)].join("\n"))
    if (plan.action === "none" && !input.json) {
      return plan.stays === undefined ? exitCodes.done : exitCodes.differs
    }
    if (!(yield* confirm(`${what}?`, input.yes))) return exitCodes.failed
    const { body, value } = yield* followRun((api) => api.upsert({ payload: { ...payload, planHash: plan.planHash } }))
    if (input.json) yield* print(body)
    const at = value.domain === "" ? "" : ` It is reached at ${escapeInline(value.domain)}.`
    if (!value.success) {
      yield* say("Not every step was done.")
      return exitCodes.failed
    }
    const drift = yield* use((api) => api.drift({ payload }))
    yield* printRemaining(drift)
    const count = differencesIn(drift)
    const name = escapeInline(plan.appName)
    const limit = (drift.unknown ?? []).length === 0 ? "" : ", as far as it can be read"
    yield* say(
      count === 0
        ? `${name} is as declared${limit}.${at}`
        : `Every step was done; ${pluralize(count, "difference")} of ${name} ${count === 1 ? "stays" : "stay"}.${at}`
    )
    return count === 0 ? exitCodes.done : exitCodes.differs
  })
)
