import { Option } from "effect"
import type { LogLine, LogSource } from "../../schema/servers/Logs.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./followLogs.sh.ts"
import { logLimit } from "./logsCommand.ts"

/** Selection of the lines of a followed log. */
export interface FollowOptions {
  /** Number of last lines to begin with. */
  readonly lines: number
  /** Start of the lines in the format of the script; empty for no limit. */
  readonly since: string
  /** End of the lines; the script exits if it is in the past. */
  readonly until?: string
  /** Service of a stack; empty for all services. */
  readonly service: string
  /** Limits the first lines to those that may contain it, not yet to `lines`; empty for all. */
  readonly contains?: string
}

/**
 * Follows logs until its input ends. Prints `following`, or `none` if the container or stack does not exist, then the
 * last lines, `live`, and a line for each further line of the logs.
 */
export const followLogsCommand = (
  source: LogSource,
  { contains = "", lines, service, since, until = "" }: FollowOptions,
  sudo: boolean
): RemoteCommand => ({
  what: `following the logs of ${source.kind === "container" ? source.name : source.remotePath}`,
  script,
  args: [
    source.kind,
    source.kind === "container" ? source.name : source.remotePath,
    String(lines),
    since,
    service,
    until,
    contains,
    String(logLimit)
  ],
  sudo,
  pool: "followers"
})

/** Maximum characters read of a line. Exceeds the number passed on, so that a secret at the cut is still redacted. */
export const longestLogLine = 12 * 1024

/** Printed between the last lines and the further ones. */
export const liveMark = "live"

/** Parses a log line printed by `followLogsCommand`. */
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
