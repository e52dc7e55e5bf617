import { Effect } from "effect"
import type { DeployResult } from "../../schema/deploy/Deploy.ts"
import { computeRunVerdict } from "../../schema/runs/runVerdict.ts"
import { verdictCode } from "../terminal/exitCodes.ts"
import { escapeInline } from "../terminal/safeText.ts"
import { Screen } from "../terminal/Screen.ts"
import { makeStyler } from "../terminal/style.ts"

const signs = { done: ["✓", "green"], unhealthy: ["!", "yellow"], failed: ["✗", "red"] } as const

/**
 * Prints the outcome of a deploy or rollback; returns its exit code.
 * @param next commands that fix a failure
 */
export const printDeployEnd = (
  result: Pick<DeployResult, "healthy" | "message" | "success">,
  next: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const { message } = result
    const { err, say } = yield* Screen
    const verdict = computeRunVerdict({ kind: "deploy", subject: {} }, result)
    const [sign, color] = signs[verdict]
    const [first = "", ...others] = message.split("\n").map(escapeInline)
    yield* say([`${makeStyler(err)(color, sign)} ${first}`, ...others, ...next].join("\n"))
    return verdictCode[verdict]
  })
