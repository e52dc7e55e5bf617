import { Effect, Option } from "effect"
import { maxChangelogEntries } from "../../../schema/applications/Changelog.ts"
import { pluralize } from "../../../schema/words/pluralize.ts"
import { showAnswer } from "../../connection/withService.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { integerOption } from "../../parse/parameters.ts"
import { formatValue } from "../../plans/platformPlan.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"
import { makeStyler } from "../../terminal/style.ts"
import { wrapText } from "../../terminal/wrapText.ts"
import { declared, resolveAppRequest } from "./declared.ts"

export const changelogCommand = defineServiceCommand(
  {
    name: "changelog",
    summary: "List what upserts did to the applications of a project, newest first.",
    examples: ["berth app changelog", "berth app changelog hello --app hello --limit 50"]
  },
  {
    ...declared,
    limit: integerOption("limit", "Number of entries to list; 20 unless given.", {
      value: "number",
      between: [1, maxChangelogEntries]
    }),
    before: integerOption("before", "Only entries before the one of this number.", {
      value: "number",
      between: [1, Infinity]
    })
  },
  Effect.fnUntraced(function*(input) {
    const { out, print, say } = yield* Screen
    const query = {
      ...(yield* resolveAppRequest(input)),
      ...(Option.isSome(input.limit) ? { limit: input.limit.value } : {}),
      ...(Option.isSome(input.before) ? { before: input.before.value } : {})
    }
    return yield* showAnswer(
      input,
      (api) => api.changelog({ urlParams: query }),
      ({ entries, next, unreadable }) =>
        Effect.gen(function*() {
          if (entries.length === 0) {
            yield* say("No upsert yet: berth app up does one.")
          } else {
            const style = makeStyler(out)
            const lines = entries.flatMap(({ action, appName, changes, number, timestamp }) => [
              `${number}  ${style("bold", escapeInline(appName))} ${action === "create" ? "created" : "updated"} ` +
              `at ${timestamp}`,
              ...changes.map(({ label, new: after, old: before }) =>
                `  ~ ${escapeInline(label)}: ${formatValue(before)} → ${formatValue(after)}`
              )
            ])
            yield* print(wrapText(lines.join("\n"), out))
          }
          if (unreadable > 0) {
            yield* say(`! ${pluralize(unreadable, "entry", "entries")} left out: not to be read`)
          }
          if (next !== null) {
            yield* say(`There are more: --before ${next}`)
          }
        })
    )
  })
)
