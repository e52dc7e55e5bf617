import { Effect } from "effect"
import { Berth } from "../../client/Berth.ts"
import { common, connected } from "../common.ts"
import { exitCodes } from "../Failure.ts"
import { command } from "../parse/command.ts"
import { safeText } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { styled } from "../terminal/style.ts"
import { prose } from "../terminal/wrapped.ts"

const doctorCommand = command(
  {
    name: "doctor",
    summary: "Check the settings, the servers, the platform and the git host, and say what to mend.",
    details: "Ends with 1 when a check failed.",
    examples: ["berth doctor"]
  },
  common,
  (input) =>
    connected(
      input,
      Effect.gen(function*() {
        const { answer, where } = yield* Berth
        const { out, print, say } = yield* Screen
        const style = styled(out)
        const { body, value } = yield* answer((api) => api.health({ urlParams: { deep: "true" } }))
        const findings = value.dependencies ?? []
        const failed = findings.filter(({ ok }) => !ok).length
        if (input.json) yield* print(body)
        else {
          yield* print(
            findings.flatMap(({ detail, fix, name, ok }) => [
              `${ok ? style("green", "✓") : style("red", "✗")} ${style("bold", safeText(name))}: ${safeText(detail)}`,
              ...(fix === undefined ? [] : [`  ${style("yellow", "→")} ${safeText(fix)}`])
            ]).map((line) => prose(line, out)).join("\n")
          )
          yield* say(
            failed === 0
              ? `Berth ${value.version} ${where === "this process" ? "in" : "at"} ${where}: all is well.`
              : `${failed} of ${findings.length} checks failed.`
          )
        }
        return failed === 0 ? exitCodes.done : exitCodes.failed
      })
    )
)

export const healthCommands = [doctorCommand]
