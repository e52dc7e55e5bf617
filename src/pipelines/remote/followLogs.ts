import { Option } from "effect"
import type { LogLine, LogSource } from "../../schema/Logs.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./scripts/followLogs.sh.ts"

/**
 * Follows logs until its input ends. It prints `following`, or `none` when there is no such container or stack, and
 * then a line for each line of the logs, the last `lines` first.
 * @param service the one service of a stack; empty for all
 * @param since as `docker logs --since` takes it; empty for no such limit
 */
export const followLogsCommand = (
  source: LogSource,
  { lines, service, since }: { readonly lines: number; readonly service: string; readonly since: string },
  sudo: boolean
): RemoteCommand => ({
  what: `following the logs of ${source.kind === "container" ? source.name : source.remotePath}`,
  script,
  args: [source.kind, source.kind === "container" ? source.name : source.remotePath, String(lines), since, service],
  sudo,
  lane: "followers"
})

/** How much of a line is read, in characters: more than is handed on, so that a secret at the cut is still known. */
export const longestLogLine = 12 * 1024

/** Reads a line that `followLogsCommand` prints for a line of a log. */
export const parseLogLine = (line: string): Option.Option<LogLine> => {
  const match = /^([oe])\|([A-Za-z0-9._-]{0,255})\|(\d{4}-[0-9T:.-]{6,30}Z) ?/.exec(line)
  const [head = "", stream, service = "", time = ""] = match ?? []
  return match === null ? Option.none() : Option.some({
    time,
    service,
    stream: stream === "e" ? "stderr" : "stdout",
    text: line.slice(head.length).replace(/\r$/, "")
  })
}
