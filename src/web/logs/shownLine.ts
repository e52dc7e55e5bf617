import type { LogEvent } from "../../schema/servers/Logs.ts"
import { formatCount } from "../format/format.ts"

export const levels = ["debug", "info", "warn", "error"] as const
export type Level = typeof levels[number]

/** Displayed line; `dropped` marks missing lines. */
export interface ShownLine {
  readonly kind: "line"
  readonly key: number
  /** Time from the server; empty for missing lines. */
  readonly time: string
  /** `time` in milliseconds; NaN for missing lines. */
  readonly ms: number
  /** Service, preceded by its project if several are followed. */
  readonly source: string
  readonly text: string
  readonly level: Level | "dropped"
}

const words: ReadonlyArray<readonly [Level, RegExp]> = [
  ["error", /^(?:err|error|fatal|crit|critical|panic|alert|emerg|[56]0)$/i],
  ["warn", /^(?:warn|warning|40)$/i],
  ["debug", /^(?:debug|trace|verbose|[12]0)$/i]
]
const field = /"?\b(?:level|severity|lvl)"?\s*[:=]\s*"?([A-Za-z]+|\d+)/i
const shouted = /\b(ERROR|FATAL|CRITICAL|PANIC|WARN(?:ING)?|INFO|DEBUG|TRACE)\b/

/** Level of a line by its field `level`, else by the first level in capitals. */
export const detectLevel = (text: string): Level => {
  const start = text.slice(0, 400)
  const word = field.exec(start)?.[1] ?? shouted.exec(start.slice(0, 200))?.[1]
  return word === undefined ? "info" : words.find(([, pattern]) => pattern.test(word))?.[0] ?? "info"
}

// Strips terminal escape sequences.
const withoutControls = (text: string) =>
  text.replaceAll(/\u001B\[[0-9;?]*[ -/]*[@-~]/g, "").replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, "\uFFFD")

let keys = 0

/** Converts a log event to a displayed line. */
export const toShownLine = (event: Extract<LogEvent, { readonly event: "line" | "dropped" }>): ShownLine => {
  const key = keys++
  if (event.event === "dropped") {
    const { lines, project = "" } = event.data
    const text = `${formatCount(lines, "line")} came faster than they could be read and were left out`
    return { kind: "line", key, time: "", ms: Number.NaN, source: project, text, level: "dropped" }
  }
  const { project, service, time } = event.data
  const text = withoutControls(event.data.text)
  const source = project === undefined ? service : `${project}/${service}`
  return { kind: "line", key, time, ms: Date.parse(time), source, text, level: detectLevel(text) }
}

interface Placed {
  readonly line: ShownLine
  /** Time in milliseconds by which the line is sorted. */
  readonly at: number
}

/** Assigns the time to sort by. A gap has no time: it stays after the line before it. */
const placed = (lines: ReadonlyArray<ShownLine>, start: number): ReadonlyArray<Placed> => {
  let at = start
  return lines.map((line) => {
    if (!Number.isNaN(line.ms)) at = line.ms
    return { line, at }
  })
}

const byTime = (one: Placed, other: Placed) => one.at < other.at ? -1 : one.at > other.at ? 1 : 0

/**
 * Inserts lines by time: lines of several sources arrive out of order, even within one batch.
 * @param most bound of lines; the oldest are evicted
 */
export const mergeLogLines = (
  lines: ReadonlyArray<ShownLine>,
  more: ReadonlyArray<ShownLine>,
  most: number
): ReadonlyArray<ShownLine> => {
  const end = lines.findLast(({ ms }) => !Number.isNaN(ms))?.ms ?? -Infinity
  const added = placed(more, end)
  const earliest = added.reduce((least, { at }) => at < least ? at : least, Infinity)
  const from = lines.findLastIndex(({ ms }) => ms <= earliest) + 1
  const tail = [...placed(lines.slice(from), lines[from - 1]?.ms ?? -Infinity), ...added].sort(byTime)
  return lines.slice(0, from).concat(tail.map(({ line }) => line)).slice(-most)
}
