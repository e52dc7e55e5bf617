import type { RemoteCommandFailed } from "../../schema/servers/Ssh.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script as containerScript } from "./containerLogs.sh.ts"
import { script as stackScript } from "./stackLogs.sh.ts"

/** Most bytes of log in an answer: the last ones. */
export const logLimit = 10 * 1024 * 1024

/** Selection and format of log lines. */
export interface LogOptions {
  /** No line from before it: a time in UTC, or `-` and how many seconds ago; empty for all. */
  readonly since?: string
  /** Prefixes each line with its time. */
  readonly timestamps?: boolean
  /** The one service of a stack; empty for all. */
  readonly service?: string
  /** No line from after it, in the form of `since`. */
  readonly until?: string
  /** The answer is the lines that may contain it, not limited to `lines`; empty for all. */
  readonly contains?: string
}

const yesOrNo = (yes: boolean) => (yes ? "yes" : "no")

/** The last lines of a container's log. */
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

/** Exit code of the stack's logs without such a directory. */
const noDirectory = 66
const noComposeFile = /no configuration file provided|Can't find a suitable configuration file/

/** Tests for a failure because of a missing stack: no such directory, or no compose file in it. */
export const isNoStack = ({ code, words }: Pick<RemoteCommandFailed, "code" | "words">): boolean =>
  code === noDirectory || noComposeFile.test(words)

/** The last lines of a compose stack's log, all its services together. */
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
