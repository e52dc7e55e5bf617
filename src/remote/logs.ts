import { Option } from "effect"
import type { LogLine, LogSource } from "../schema/logs.ts"
import type { RemoteCommandFailed } from "../schema/ssh.ts"
import type { RemoteCommand } from "../services/ssh/Ssh.ts"
import { script as containerScript } from "./logs/containerLogs.sh.ts"
import { script } from "./logs/followLogs.sh.ts"
import { script as stackScript } from "./logs/stackLogs.sh.ts"

/** Maximum bytes of log in an answer, counted from the end. */
export const logLimit = 10 * 1024 * 1024

/** Selection and format of log lines. */
export interface LogOptions {
  /** Start of the lines: a time in UTC, or `-` and an age in seconds; empty for no limit. */
  readonly since?: string
  /** Prefixes each line with its time. */
  readonly timestamps?: boolean
  /** Service of a stack; empty for all services. */
  readonly service?: string
  /** End of the lines, in the format of `since`. */
  readonly until?: string
  /** Returns the lines that may contain it, not limited to `lines`; empty for all. */
  readonly contains?: string
}

const yesOrNo = (yes: boolean) => (yes ? "yes" : "no")

/** Reads the last lines of a container's log. */
export const containerLogsCommand = (
  containerName: string,
  lines: number,
  sudo: boolean,
  { contains = "", since = "", timestamps = false, until = "" }: LogOptions = {}
): RemoteCommand => ({
  what: `reading the logs of ${containerName}`,
  script: containerScript,
  args: [containerName, String(lines), since, yesOrNo(timestamps), until, contains],
  sudo
})

/** Exit code of the stack's logs if the directory does not exist. */
const noDirectory = 66
const noComposeFile = /no configuration file provided|Can't find a suitable configuration file/

/** Tests for a failure because of a missing stack: no such directory, or no compose file in it. */
export const isNoStack = ({ code, words }: Pick<RemoteCommandFailed, "code" | "words">): boolean =>
  code === noDirectory || noComposeFile.test(words)

/** Reads the last lines of a compose stack's log, of all its services together. */
export const stackLogsCommand = (
  remotePath: string,
  lines: number,
  sudo: boolean,
  { contains = "", service = "", since = "", timestamps = false, until = "" }: LogOptions = {}
): RemoteCommand => ({
  what: `reading the logs of ${service === "" ? remotePath : `${service} at ${remotePath}`}`,
  script: stackScript,
  args: [remotePath, String(lines), String(logLimit), since, yesOrNo(timestamps), service, until, contains],
  sudo
})

/** Selection of the lines of a followed log. */
interface FollowOptions {
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
