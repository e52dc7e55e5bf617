import { useQuery } from "@tanstack/react-query"
import { useEffect, useMemo, useRef, useState } from "react"
import { useSearchParams } from "wouter"
import type { LogEvent } from "../../schema/logs.ts"
import type { Run } from "../../schema/runs.ts"
import { useNarrow } from "../browser.ts"
import { call, computeDayStart, follow, formatCount, minPollMillis } from "../service.ts"

const levels = ["debug", "info", "warn", "error"] as const
type Level = typeof levels[number]

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
const detectLevel = (text: string): Level => {
  const start = text.slice(0, 400)
  const word = field.exec(start)?.[1] ?? shouted.exec(start.slice(0, 200))?.[1]
  return word === undefined ? "info" : words.find(([, pattern]) => pattern.test(word))?.[0] ?? "info"
}

// Strips terminal escape sequences.
const withoutControls = (text: string) =>
  text.replaceAll(/\u001B\[[0-9;?]*[ -/]*[@-~]/g, "").replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, "\uFFFD")

let keys = 0

/** Converts a log event to a displayed line. */
const toShownLine = (event: Extract<LogEvent, { readonly event: "line" | "dropped" }>): ShownLine => {
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

/** Deploy, rollback or action on a stack, shown among the lines. */
export interface MarkRow {
  readonly kind: "mark"
  readonly key: string
  readonly ms: number
  readonly run: Run
}

/** Start of a day, shown among the lines. */
interface DayRow {
  readonly kind: "day"
  readonly key: string
  readonly ms: number
}

export type LogRow = ShownLine | MarkRow | DayRow

/** Filter of lines; empty fields match all. */
interface LogFilter {
  readonly text: string
  readonly source: string
  readonly level: Level | undefined
  /** Also shows lines without the text. */
  readonly showAll: boolean
}

/** Rows of a log, and the indexes of those that contain the text. */
interface LogRows {
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

const longest = 8_000

/** Indents a line that is a JSON object or list; undefined for any other line. */
export const unfoldJson = (text: string): string | undefined => {
  const trimmed = text.trim()
  if (trimmed.length > longest || !/^(?:\{.*\}|\[.*\])$/s.test(trimmed)) return undefined
  try {
    const value: unknown = JSON.parse(trimmed)
    return typeof value === "object" && value !== null && Object.keys(value).length > 0
      ? JSON.stringify(value, null, 2)
      : undefined
  } catch {
    return undefined
  }
}

/** Saves the lines as a text file: time, source and text of each. */
export const download = (name: string, rows: ReadonlyArray<LogRow>, withSource: boolean): void => {
  const lines = rows.flatMap((row) =>
    row.kind === "line"
      ? [[row.time, ...withSource ? [row.source] : [], row.text].filter((part) => part !== "").join(" ")]
      : []
  )
  const url = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/plain" }))
  const link = document.createElement("a")
  link.href = url
  link.download = `${name.replaceAll(/[^A-Za-z0-9._-]+/g, "-")}.log`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Bound of buffered lines; the oldest are evicted. */
export const maxBufferedLines = 50_000
const atFirst = 500
/** Most lines that the service sends at first. */
const mostAtFirst = 10_000

export type LogTarget = { readonly remotePath: string } | { readonly containerName: string }

/** Source of followed logs: a stack or container of a server, or projects. */
export type FollowedSource =
  | { readonly serverId: string; readonly target: LogTarget }
  | { readonly projects: ReadonlyArray<string> }

/** Filter that the service applies to lines; empty fields match all. */
interface LogSelection {
  readonly since: string
  readonly until: string
  readonly service: string
  readonly contains: string
  /** Requests more than the latest lines: most of them may be filtered out afterwards. */
  readonly further: boolean
}

/** Buffered lines, and the reason why the stream ended. */
interface LogBuffer {
  readonly lines: ReadonlyArray<ShownLine>
  readonly failure: Error | undefined
  /** Errors by project, for projects that cannot be followed while others are. */
  readonly unavailable: Readonly<Record<string, string>>
  /** True after the last line before `until`. */
  readonly ended: boolean
}

const nothing: LogBuffer = { lines: [], failure: undefined, unavailable: {}, ended: false }

const given = (text: string) => text === "" ? undefined : text

/** Follows logs while mounted. */
export const useLogs = (source: FollowedSource, { contains, further, service, since, until }: LogSelection) => {
  const [logs, setLogs] = useState(nothing)
  const [attempt, setAttempt] = useState(0)
  // The source is a new object at each rendering.
  const key = JSON.stringify(source)
  useEffect(() => {
    setLogs(nothing)
    if ("projects" in source && source.projects.length === 0) return
    const selection = {
      lines: since === "" && contains === "" && !further ? atFirst : mostAtFirst,
      since: given(since),
      until: given(until),
      service: given(service),
      contains: given(contains)
    }
    return follow(
      (berth) =>
        "projects" in source
          ? berth.followProjectLogs({ projects: source.projects, ...selection })
          : berth.followLogs(source.serverId, { ...source.target, ...selection }),
      {
        onFailure: (failure) => setLogs((seen) => ({ ...seen, failure })),
        onEvents: (events) => {
          const more = events.flatMap((event) =>
            event.event === "line" || event.event === "dropped" ? [toShownLine(event)] : []
          )
          const missing = events.flatMap((event) =>
            event.event === "unavailable" ? [[event.data.project, event.data.error]] : []
          )
          const ended = events.some(({ event }) => event === "end")
          setLogs((seen) => ({
            failure: seen.failure,
            lines: mergeLogLines(seen.lines, more, maxBufferedLines),
            unavailable: missing.length === 0
              ? seen.unavailable
              : { ...seen.unavailable, ...Object.fromEntries(missing) },
            ended: seen.ended || ended
          }))
        }
      }
    )
  }, [key, since, until, service, contains, further, attempt])
  return { ...logs, again: () => setAttempt((count) => count + 1) }
}

/** Steps between hits. The current hit is stored by its key: positions change as lines arrive and are evicted. */
export const useHits = ({ hits, rows }: LogRows, onStep: () => void) => {
  const [current, setCurrent] = useState<ShownLine["key"]>()
  const [target, setTarget] = useState<{ readonly index: number; readonly wish: number }>()
  const position = current === undefined ? -1 : hits.findIndex((index) => rows[index]?.key === current)
  const show = (index: number) => setTarget((before) => ({ index, wish: (before?.wish ?? 0) + 1 }))
  const step = (by: 1 | -1) => {
    if (hits.length === 0) return
    const next = position === -1 ? (by === 1 ? 0 : hits.length - 1) : (position + by + hits.length) % hits.length
    const index = hits[next]
    const row = index === undefined ? undefined : rows[index]
    if (index === undefined || row?.kind !== "line") return
    setCurrent(row.key)
    onStep()
    show(index)
  }
  return { current, position: position + 1, count: hits.length, step, show, target }
}

const kinds: ReadonlySet<string> = new Set(["deploy", "rollback", "stack"])

/** Location of a followed stack. */
export interface MarkedStack {
  readonly serverId: string
  readonly remotePath: string
}

/** Fetches the runs that changed stacks, as marks among the lines of their logs. */
export const useMarks = (stacks: ReadonlyArray<MarkedStack>): ReadonlyArray<MarkRow> => {
  const { data } = useQuery({
    queryKey: ["runs", "marks"],
    queryFn: ({ signal }) => call((berth) => berth.listRuns({ urlParams: { limit: 200 } }), signal),
    enabled: stacks.length > 0,
    refetchInterval: minPollMillis
  })
  const wanted = stacks.map(({ remotePath, serverId }) => `${serverId} ${remotePath}`).join("\n")
  return useMemo(() => {
    const among = new Set(wanted.split("\n"))
    return (data?.runs ?? []).flatMap((run): ReadonlyArray<MarkRow> =>
      kinds.has(run.kind) && run.startedAt !== null && among.has(`${run.subject.serverId} ${run.subject.remotePath}`)
        ? [{ kind: "mark", key: run.id, ms: Date.parse(run.startedAt), run }]
        : []
    )
  }, [data, wanted])
}

/** State of a log view that is stored in the address. */
interface LogAddress {
  readonly text: string
  readonly source: string
  readonly level: Level | undefined
  readonly since: string
  /** Also shows lines without the text. */
  readonly showAll: boolean
  /** Searches on the server, which reaches further back. */
  readonly whole: boolean
  /** Wraps long lines; by default only on a telephone. */
  readonly wrap: boolean
  readonly unfold: boolean
  /** Time of the line that a link leads to. */
  readonly at: string
}

type Change = Readonly<Record<string, string | undefined>>

const writeDelay = 300

/** Reads and writes the state of a log view in the address; keeps its other parameters. */
export const useLogAddress = () => {
  const [params, setParams] = useSearchParams()
  const narrow = useNarrow()
  const change = (changes: Change) =>
    setParams((before) => {
      const after = new URLSearchParams(before)
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === "") after.delete(name)
        else after.set(name, value)
      }
      return after
    }, { replace: true })
  const latest = useRef(change)
  latest.current = change

  const written = params.get("q") ?? ""
  const [text, setText] = useState(written)
  // Delayed: browsers limit the rate of address changes.
  useEffect(() => {
    if (text === written) return
    const timer = setTimeout(() => latest.current({ q: text }), writeDelay)
    return () => clearTimeout(timer)
  }, [text, written])

  const address: LogAddress = {
    text,
    source: params.get("service") ?? "",
    level: levels.find((level) => level === params.get("level")),
    since: params.get("since") ?? "",
    showAll: params.get("show") === "all",
    whole: params.get("search") === "whole",
    wrap: (params.get("wrap") ?? (narrow ? "1" : "0")) === "1",
    unfold: params.get("json") === "1",
    at: Number.isNaN(Date.parse(params.get("at") ?? "")) ? "" : params.get("at") ?? ""
  }
  return { address, change, setText }
}
