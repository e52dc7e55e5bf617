import { Array } from "effect"

/** Side effects of a start. */
export interface StartRemarks {
  /** Warnings of compose, without duplicates. */
  readonly warnings: ReadonlyArray<string>
  /** Names of files that were removed. */
  readonly removed: ReadonlyArray<string>
}

const mostTold = 5
const longestWarning = 300

/** The text of a warning: compose 2.x wraps it as `time="…" level=warning msg="…"`. */
const textOf = (line: string): string => {
  const wrapped = /\bmsg="((?:[^"\\]|\\.)*)/.exec(line)?.[1]
  return wrapped === undefined ? line : wrapped.replaceAll(/\\(.)/g, "$1")
}

// Most older compose files cause this warning, and it has no effect.
const isRelevant = (warning: string) => warning !== "" && !/attribute [`'"]?version[`'"]? is obsolete/.test(warning)

/** Reads the `warning` and `removed` lines of an activation. */
export const parseStartRemarks = (lines: ReadonlyArray<string>): StartRemarks => {
  const values = (key: string) =>
    lines.flatMap((line) => line.startsWith(`${key}\t`) ? [line.slice(key.length + 1)] : [])
  return {
    warnings: Array.dedupe(values("warning").map((line) => textOf(line).trim()).filter(isRelevant)),
    removed: values("removed")
  }
}

const some = (texts: ReadonlyArray<string>): string =>
  texts.slice(0, mostTold).join(", ") + (texts.length > mostTold ? ` and ${texts.length - mostTold} more` : "")

/** Sentences for a result's message, with a leading space; empty without remarks. */
export const describeRemarks = ({ removed, warnings }: StartRemarks): string =>
  (removed.length === 0 ? "" : ` Removed from the server, no longer in the project: ${some(removed)}.`) +
  (warnings.length === 0
    ? ""
    : ` Compose warns: ${some(warnings.map((text) => text.slice(0, longestWarning).replace(/\.$/, "")))}.`)
