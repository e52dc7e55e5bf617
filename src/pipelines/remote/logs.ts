import type { RemoteCommandFailed } from "../../schema/Ssh.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script as containerScript } from "./scripts/containerLogs.sh.ts"
import { script as stackScript } from "./scripts/stackLogs.sh.ts"

/** How many bytes of log a request brings along, the last ones. */
export const logLimit = 10 * 1024 * 1024

/** Which lines, and how. */
export interface LogOptions {
  /** No line from before it: a time in UTC, or `-` and how many seconds ago; empty for all. */
  readonly since?: string
  /** Whether each line comes with its time. */
  readonly timestamps?: boolean
  /** The one service of a stack; empty for all. */
  readonly service?: string
}

const yesOrNo = (yes: boolean) => (yes ? "yes" : "no")

/** The last lines of a container's log. */
export const containerLogsCommand = (
  containerName: string,
  lines: number,
  sudo: boolean,
  { since = "", timestamps = false }: LogOptions = {}
): RemoteCommand => ({
  what: `reading the logs of ${containerName}`,
  script: containerScript,
  args: [containerName, String(lines), since, yesOrNo(timestamps)],
  sudo
})

/** How the script of a stack's logs ends where there is no such directory. */
const noDirectory = 66
const noComposeFile = /no configuration file provided|Can't find a suitable configuration file/

/** Whether reading a stack's logs failed for want of a stack: there is no such directory, or no compose file in it. */
export const isNoStack = ({ code, words }: Pick<RemoteCommandFailed, "code" | "words">): boolean =>
  code === noDirectory || noComposeFile.test(words)

/** The last lines of a compose stack's log, all its services together. */
export const stackLogsCommand = (
  remotePath: string,
  lines: number,
  sudo: boolean,
  { service = "", since = "", timestamps = false }: LogOptions = {}
): RemoteCommand => ({
  what: `reading the logs of ${service === "" ? remotePath : `${service} at ${remotePath}`}`,
  script: stackScript,
  args: [remotePath, String(lines), String(logLimit), since, yesOrNo(timestamps), service],
  sudo
})
