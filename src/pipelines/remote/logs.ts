import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script as stackScript } from "./scripts/stackLogs.sh.ts"

/** How many bytes of log a request brings along, the last ones. */
export const logLimit = 10 * 1024 * 1024

// The inner shell puts both streams of the container into one, in the order they were written, and leaves what sudo
// itself says apart.
const containerScript = `
as_root sh -c 'docker logs --tail "$1" "$2" 2>&1' sh "$2" "$1" </dev/null
`

/** The last lines of a container's log. */
export const containerLogsCommand = (containerName: string, lines: number, sudo: boolean): RemoteCommand => ({
  what: `reading the logs of ${containerName}`,
  script: containerScript,
  args: [containerName, String(lines)],
  sudo
})

/** The last lines of a compose stack's log, all its services together. */
export const stackLogsCommand = (remotePath: string, lines: number, sudo: boolean): RemoteCommand => ({
  what: `reading the logs of ${remotePath}`,
  script: stackScript,
  args: [remotePath, String(lines), String(logLimit)],
  sudo
})
