import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./unhealthyLogs.sh.ts"

/** Reads the last lines of the logs of unhealthy containers, with values from env files masked. */
export const unhealthyLogsCommand = (
  remotePath: string,
  lines: number,
  ids: ReadonlyArray<string>,
  sudo: boolean
): RemoteCommand => ({
  what: "reading the logs of the unhealthy containers",
  script,
  args: [remotePath, String(lines), ...ids],
  sudo
})

/** Parses the answer of `unhealthyLogsCommand`: the lines of each container by id, oldest first. */
export const parseUnhealthyLogs = (output: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const logs = new Map<string, Array<string>>()
  let lines: Array<string> = []
  for (const text of output.split("\n")) {
    const [, kind, rest = ""] = /^(container|line)\t(.*)$/.exec(text) ?? []
    if (kind === "line") lines.push(rest)
    if (kind === "container") logs.set(rest, lines = [])
  }
  return logs
}
