import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import { classifyFinding, type Finding, firstSteps } from "../../schema/Health.ts"
import { defineServiceCommand } from "../options/defineServiceCommand.ts"
import { exitCodes } from "../terminal/exitCodes.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { makeStyler } from "../terminal/style.ts"
import { wrapText } from "../terminal/wrapText.ts"

const unusedWords =
  "What is not set up waits for its settings, and the rest works without it: docs/settings.md has them all."

const doctorCommand = defineServiceCommand(
  {
    name: "doctor",
    summary: "Check the settings, the servers, the platform and the git host, and say what to mend.",
    details: "Ends with 1 when a check failed. What no setting names is not set up, and is not a failure.",
    examples: ["berth doctor"]
  },
  {},
  Effect.fnUntraced(function*(input) {
    const { answer, where } = yield* Berth
    const { out, print, say } = yield* Screen
    const style = makeStyler(out)
    const { body, value } = yield* answer((api) => api.health({ urlParams: { deep: "true" } }))
    const findings = value.dependencies ?? []
    const count = (standing: ReturnType<typeof classifyFinding>) =>
      findings.filter((finding) => classifyFinding(finding) === standing).length
    const [failed, unused] = [count("failed"), count("unused")]
    const linesOf = (finding: Finding): ReadonlyArray<string> => {
      const { detail, fix, name, ok } = finding
      const title = style("bold", escapeInline(name))
      const isUnused = classifyFinding(finding) === "unused"
      if (isUnused && !firstSteps.has(name)) return [`${style("dim", "-")} ${title}: not set up`]
      const sign = isUnused ? style("dim", "-") : ok ? style("green", "✓") : style("red", "✗")
      return [
        `${sign} ${title}: ${escapeInline(detail)}`,
        ...(fix === undefined ? [] : [`  ${style("yellow", "→")} ${escapeInline(fix)}`])
      ]
    }
    if (input.json) yield* print(body)
    else {
      yield* print(findings.flatMap(linesOf).map((line) => wrapText(line, out)).join("\n"))
      yield* say(
        failed === 0
          ? `Berth ${value.version} ${where === "this process" ? "in" : "at"} ${where}: all ${
            unused === 0 ? "is well." : "that is set up is well."
          }`
          : failed < findings.length - unused
          ? `${failed} of ${findings.length - unused} checks failed.`
          : failed === 1
          ? "The only check failed."
          : `All ${failed} checks failed.`
      )
      if (unused > 0) yield* say(unusedWords)
    }
    return failed === 0 ? exitCodes.done : exitCodes.failed
  })
)

export const healthCommands = [doctorCommand]
