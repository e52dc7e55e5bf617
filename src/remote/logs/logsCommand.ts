import type { RemoteCommandFailed } from "../../schema/servers/Ssh.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script as containerScript } from "./containerLogs.sh.ts"
import { script as stackScript } from "./stackLogs.sh.ts"

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
