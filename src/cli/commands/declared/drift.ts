import { Effect } from "effect"
import { Berth } from "../../../client/Berth.ts"
import { type AppRequest, differencesIn, type Drift } from "../../../schema/applications/Drift.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { describeDrift, formatDriftTable, formatRemedies, formatUnknownFields } from "../../plans/driftLines.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"
import { declared, resolveAppRequest } from "./declared.ts"

/** Explains the missing application or declaration, and how to create it. */
const whyAbsent = ({ appName, projectPath }: AppRequest, { appConfig, configs }: Drift): string => {
  const path = escapeInline(projectPath)
  if (configs.length === 0) {
    return `${path} has no platform.json, or an empty one, so there is nothing to compare. berth app adopt writes one ` +
      "from an application of the platform; docs/coolify.md shows one to write by hand."
  }
  if (appConfig === undefined) {
    const names = configs.map(({ name }) => `"${escapeInline(String(name))}"`).join(", ")
    return `The platform.json of ${path} declares no application "${
      escapeInline(appName ?? "")
    }": it declares ${names}.`
  }
  return "The platform has no such application yet: berth app up creates it."
}

export const driftCommand = defineServiceCommand(
  {
    name: "drift",
    summary: "Show how an application differs from what its project declares.",
    details:
      "Compares the application, its variables, its route and its webhook. Ends with 2 when something differs, with " +
      "1 when there is nothing to compare with.",
    examples: ["berth app drift", "berth app drift hello --app hello"]
  },
  { ...declared },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print, say } = yield* Screen
    const payload = yield* resolveAppRequest(input)
    const { body, value: drift } = yield* answer((api) => api.drift({ payload }))
    const { appConfig, exists, warnings = [] } = drift
    if (input.json) yield* print(body)
    else {
      const differences = formatDriftTable(drift, out)
      if (differences !== undefined) yield* print(differences)
      yield* Effect.forEach([...formatRemedies(drift), ...formatUnknownFields(drift)], (line) => say(line))
      yield* Effect.forEach(warnings, (warning) => say(`! ${escapeInline(warning)}`))
      yield* say(exists ? describeDrift(drift) : whyAbsent(payload, drift))
    }
    if (appConfig === undefined) return exitCodes.failed
    return exists && differencesIn(drift) === 0 ? exitCodes.done : exitCodes.differs
  })
)
