import type { Run } from "../../schema/runs/Run.ts"
import { computeDayStart } from "../format/localTime.ts"
import { type Level, levels, type ShownLine } from "./shownLine.ts"

/** Deploy, rollback or action on a stack, shown among the lines. */
export interface MarkRow {
  readonly kind: "mark"
  readonly key: string
  readonly ms: number
  readonly run: Run
}

/** Start of a day, shown among the lines. */
export interface DayRow {
  readonly kind: "day"
  readonly key: string
  readonly ms: number
}

export type LogRow = ShownLine | MarkRow | DayRow

/** Filter of lines; empty fields match all. */
export interface LogFilter {
  readonly text: string
  readonly source: string
  readonly level: Level | undefined
  /** Also shows lines without the text. */
  readonly showAll: boolean
}

/** Rows of a log, and the indexes of those that contain the text. */
export interface LogRows {
  readonly rows: ReadonlyArray<LogRow>
  readonly hits: ReadonlyArray<number>
  /** Number of lines among the rows. */
  readonly lines: number
}

/** Filters lines, and inserts days and runs between them by time. Runs before the first line are left out. */
export const buildRows = (
  lines: ReadonlyArray<ShownLine>,
  marks: ReadonlyArray<MarkRow>,
  { level, showAll, source, text }: LogFilter
): LogRows => {
  const wanted = text.toLowerCase()
  const least = level === undefined ? 0 : levels.indexOf(level)
  const rows: Array<LogRow> = []
  const hits: Array<number> = []
  const oldest = lines.find(({ ms }) => !Number.isNaN(ms))?.ms ?? Infinity
  const pending = marks.filter(({ ms }) => ms >= oldest).toSorted((a, b) => a.ms - b.ms)
  let nextMark = 0
  let day = Number.NaN
  let count = 0
  const at = (ms: number) => {
    const own = computeDayStart(ms)
    if (own === day) return
    rows.push({ kind: "day", key: `day ${own}`, ms: own })
    day = own
  }
  const marksUntil = (ms: number) => {
    for (let mark = pending[nextMark]; mark !== undefined && mark.ms <= ms; mark = pending[nextMark += 1]) {
      at(mark.ms)
      rows.push(mark)
    }
  }
  for (const line of lines) {
    if (source !== "" && line.source !== source) continue
    if (least > 0 && line.level !== "dropped" && levels.indexOf(line.level) < least) continue
    const isHit = wanted !== "" && line.text.toLowerCase().includes(wanted)
    if (wanted !== "" && !isHit && !showAll) continue
    if (!Number.isNaN(line.ms)) {
      marksUntil(line.ms)
      at(line.ms)
    }
    if (isHit) hits.push(rows.length)
    rows.push(line)
    count += 1
  }
  marksUntil(Infinity)
  return { rows, hits, lines: count }
}
