import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import { defineServiceCommand } from "../options/defineServiceCommand.ts"
import { flagOption } from "../parse/parameters.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import { formatTable } from "../terminal/formatTable.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"

export const portCommand = defineServiceCommand(
  {
    name: "port",
    summary: "Print a port that nothing uses yet.",
    examples: ["berth port", "berth port --evidence"]
  },
  { evidence: flagOption("evidence", "Show what takes each port, and count what listens on the proxy's server too.") },
  Effect.fnUntraced(function*(input) {
    const { answer } = yield* Berth
    const { out, print, say } = yield* Screen
    const urlParams = input.evidence ? { evidence: "true" as const } : {}
    const { body, value } = yield* answer((api) => api.nextPort({ urlParams }))
    if (input.json) return yield* print(body)
    const rows = (value.evidence ?? []).map(({ port, usedBy }) => [
      String(port),
      usedBy.map(({ kind, what }) => `${kind} ${what}`).join(", ")
    ])
    if (rows.length > 0) yield* say(formatTable(["PORT", "USED BY"], rows, out))
    yield* Effect.forEach(value.warnings ?? [], (warning) => say(`! ${escapeInline(warning)}`))
    yield* print(String(value.nextPort))
    return exitCodes.done
  })
)
