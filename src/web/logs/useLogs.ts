import { useEffect, useState } from "react"
import { follow } from "../service/berth.ts"
import { mergeLogLines, type ShownLine, toShownLine } from "./shownLine.ts"

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
export interface LogSelection {
  readonly since: string
  readonly until: string
  readonly service: string
  readonly contains: string
  /** Requests more than the latest lines: most of them may be filtered out afterwards. */
  readonly further: boolean
}

/** Buffered lines, and the reason why the stream ended. */
export interface LogBuffer {
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
