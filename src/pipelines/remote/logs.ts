import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { composeFunctions } from "./docker.ts"

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

// Compose counts lines for each service and prints one service after the other. The lines are put in the order of
// their time stamps, the last ones of all are kept, and the time stamps go again. Both streams of each container are
// in its output; its own remarks have no time stamp, and the shell hands on its exit code through descriptor 3.
const stackScript = `${composeFunctions}
cd "$(path_of "$1")" || exit 1
find_compose
exec 4>&1
code=$({
  { compose logs --no-color --timestamps --tail "$2" </dev/null 4>&-; echo "$?" >&3; } |
    LC_ALL=C sed -n '/^[^|]*| [0-9]\\{4\\}-[0-9-]*T[0-9:.]*Z/p' |
    LC_ALL=C sort -s -t '|' -k 2.1,2.32 |
    tail -n "$2" |
    LC_ALL=C sed 's/^\\([^|]*|\\) [0-9-]*T[0-9:.]*Z/\\1/' |
    tail -c ${logLimit} >&4
} 3>&1)
exit "$code"
`

/** The last lines of a compose stack's log, all its services together. */
export const stackLogsCommand = (remotePath: string, lines: number, sudo: boolean): RemoteCommand => ({
  what: `reading the logs of ${remotePath}`,
  script: stackScript,
  args: [remotePath, String(lines)],
  sudo
})
