import { Option, Schema } from "effect"
import { useEffect, useRef, useState } from "react"
import { LogLine, LogLinesDropped } from "../../schema/Logs.ts"
import { followEvents, type ServiceEvent } from "../service/events.ts"
import { ServiceFailure } from "../service/ServiceFailure.ts"

/** A line as it is shown; `dropped` stands where lines are missing. */
export interface ShownLine {
  readonly key: number
  readonly time: string
  readonly service: string
  readonly text: string
  readonly level: "info" | "debug" | "warn" | "error" | "dropped"
}

/** The most lines that are kept: what is older is let go. */
export const mostLines = 50_000

const readLine = Schema.decodeUnknownOption(LogLine)
const readDropped = Schema.decodeUnknownOption(LogLinesDropped)
const readError = Schema.decodeUnknownOption(Schema.Struct({ error: Schema.String }))

const levelOf = (text: string): ShownLine["level"] => {
  const word = /\b(ERROR|FATAL|CRITICAL|PANIC|WARN(?:ING)?|DEBUG|TRACE)\b/.exec(text.slice(0, 200))?.[1]
  if (word === undefined) return "info"
  if (word.startsWith("WARN")) return "warn"
  return word === "DEBUG" || word === "TRACE" ? "debug" : "error"
}

// What a terminal takes for a colour or a movement is no text.
const withoutControls = (text: string) =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/\u001B\[[0-9;?]*[ -/]*[@-~]/g, "").replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, "\uFFFD")

let keys = 0
const shownOf = ({ data, event }: ServiceEvent): ReadonlyArray<ShownLine> => {
  const value: unknown = JSON.parse(data)
  if (event === "line") {
    return Option.match(readLine(value), {
      onNone: () => [],
      onSome: ({ service, text, time }) => [
        { key: keys++, time, service, text: withoutControls(text), level: levelOf(text) }
      ]
    })
  }
  return event === "dropped"
    ? Option.match(readDropped(value), {
      onNone: () => [],
      onSome: ({ lines }) => [{
        key: keys++,
        time: "",
        service: "",
        text: `${lines.toLocaleString("en")} lines came faster than they could be shown and were left out`,
        level: "dropped" as const
      }]
    })
    : []
}

/** Followed logs: the lines that are kept, how many were let go, and why nothing comes any more. */
export interface FollowedLogs {
  readonly lines: ReadonlyArray<ShownLine>
  readonly connected: boolean
  readonly failure: Error | undefined
}

/** Follows the logs of a stack or a container for as long as they are shown. */
export const useLogs = (
  serverId: string,
  target: { readonly remotePath: string } | { readonly containerName: string }
) => {
  const [logs, setLogs] = useState<FollowedLogs>({ lines: [], connected: false, failure: undefined })
  const [attempt, setAttempt] = useState(0)
  const name = new URLSearchParams({ ...target }).toString()
  const lastTime = useRef("")
  useEffect(() => {
    setLogs({ lines: [], connected: false, failure: undefined })
    lastTime.current = ""
    const leaving = new AbortController()
    const fail = (failure: Error) => setLogs((seen) => ({ ...seen, failure, connected: false }))
    const path = () => {
      const since = lastTime.current === "" ? "lines=500" : `since=${encodeURIComponent(lastTime.current)}&lines=10000`
      return `/api/servers/${encodeURIComponent(serverId)}/logs/follow?${name}&${since}`
    }
    void followEvents(path, ({ event }) => event === "error", {
      onConnected: (connected) => setLogs((seen) => ({ ...seen, connected })),
      onFailure: fail,
      onEvents: (events) => {
        const before = lastTime.current
        const more = events.flatMap(shownOf).filter(({ time }) => time === "" || time > before || before === "")
        lastTime.current = more.findLast(({ time }) => time !== "")?.time ?? before
        setLogs((seen) => ({ ...seen, lines: seen.lines.concat(more).slice(-mostLines) }))
        const refused = events.findLast(({ event }) => event === "error")
        if (refused === undefined) return
        const said = Option.map(readError(JSON.parse(refused.data)), ({ error }) => error)
        fail(new ServiceFailure(502, Option.getOrElse(said, () => "The server cannot be heard any more")))
      }
    }, leaving.signal)
    return () => leaving.abort()
  }, [serverId, name, attempt])
  return { ...logs, again: () => setAttempt((count) => count + 1) }
}
