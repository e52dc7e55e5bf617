import { useEffect, useState } from "react"
import type { LogEvent } from "../../schema/Logs.ts"
import { follow } from "../service/berth.ts"

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
const atFirst = 500

const levelOf = (text: string): ShownLine["level"] => {
  const word = /\b(ERROR|FATAL|CRITICAL|PANIC|WARN(?:ING)?|DEBUG|TRACE)\b/.exec(text.slice(0, 200))?.[1]
  if (word === undefined) return "info"
  if (word.startsWith("WARN")) return "warn"
  return word === "DEBUG" || word === "TRACE" ? "debug" : "error"
}

// What a terminal takes for a colour or a movement is no text.
const withoutControls = (text: string) =>
  text.replaceAll(/\u001B\[[0-9;?]*[ -/]*[@-~]/g, "").replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, "\uFFFD")

let keys = 0
const shownOf = (event: LogEvent): ShownLine => {
  if (event.event === "dropped") {
    const text = `${event.data.lines.toLocaleString("en")} lines came faster than they could be read and were left out`
    return { key: keys++, time: "", service: "", text, level: "dropped" }
  }
  const { service, text, time } = event.data
  return { key: keys++, time, service, text: withoutControls(text), level: levelOf(text) }
}

/** Followed logs: the lines that are kept, and why nothing comes any more. */
export interface FollowedLogs {
  readonly lines: ReadonlyArray<ShownLine>
  readonly failure: Error | undefined
}

/** Whose logs to follow. */
export type LogTarget = { readonly remotePath: string } | { readonly containerName: string }

/** Follows the logs of a stack or a container for as long as they are shown. */
export const useLogs = (serverId: string, target: LogTarget) => {
  const [logs, setLogs] = useState<FollowedLogs>({ lines: [], failure: undefined })
  const [attempt, setAttempt] = useState(0)
  const [kind, name] = "remotePath" in target ? ["stack", target.remotePath] : ["container", target.containerName]
  useEffect(() => {
    setLogs({ lines: [], failure: undefined })
    const wanted = kind === "stack" ? { remotePath: name } : { containerName: name }
    return follow(({ followLogs }) => followLogs(serverId, { ...wanted, lines: atFirst }), {
      onFailure: (failure) => setLogs((seen) => ({ ...seen, failure })),
      onEvents: (events) => {
        const more = events.map(shownOf)
        setLogs((seen) => ({ ...seen, lines: seen.lines.concat(more).slice(-mostLines) }))
      }
    })
  }, [serverId, kind, name, attempt])
  return { ...logs, again: () => setAttempt((count) => count + 1) }
}
