import { Effect } from "effect"
import { execute } from "../../../remote/execute.ts"
import { parseUnhealthyLogs, unhealthyLogsCommand } from "../../../remote/stack/unhealthyLogsCommand.ts"
import type { ServerAccess } from "../../../schema/servers/Server.ts"
import { scrubSecrets } from "../../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { Ssh } from "../../../services/ssh/Ssh.ts"
import type { RememberedContainer } from "./rememberStates.ts"
import { describeRestarts } from "./stackHealth.ts"

const mostContainers = 5
const mostLines = 20
const longestLine = 300

// Matches colours and other escape sequences, then all other control characters except the tab.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g
const plain = (line: string) => line.replaceAll(escapes, "").replaceAll(controls, "").slice(0, longestLine)

const stateWords = ({ exitCode, lastExit, restarts, status }: RememberedContainer) =>
  status === "running"
    ? [status, ...describeRestarts({ restarts, lastExit })]
    : [status, `exit code ${exitCode}`, ...describeRestarts({ restarts, lastExit: undefined })]

const titled = (state: RememberedContainer, lines: ReadonlyArray<string>) =>
  `${state.name} (${stateWords(state).join(", ")}), ` +
  (lines.length === 0 ? "has logged nothing" : "the last lines of its log:")

/**
 * Details about unhealthy containers for a message: a line break, then the exit code and the last log lines of each.
 * Empty if there are none.
 */
export const describeUnhealthy = Effect.fn("deploy.describeUnhealthy")(function*(
  server: ServerAccess,
  remotePath: string,
  unhealthy: ReadonlyArray<RememberedContainer>
): Effect.fn.Return<string, never, Settings | Ssh> {
  if (unhealthy.length === 0) return ""
  const told = unhealthy.slice(0, mostContainers)
  const command = unhealthyLogsCommand(remotePath, mostLines, told.map(({ id }) => id), server.useSudo)
  const logs = yield* execute(server, command, { timeout: "30 seconds" }).pipe(
    Effect.map(({ stdout }) => parseUnhealthyLogs(stdout)),
    Effect.catchAll(({ message }) => Effect.succeed(message))
  )
  const sections = told.map((state) => {
    if (typeof logs === "string") return `\n${titled(state, [""]).replace(/:$/, "")} could not be read: ${logs}`
    const lines = logs.get(state.id) ?? []
    return [`\n${titled(state, lines)}`, ...lines.map((line) => `  ${plain(line)}`)].join("\n")
  })
  const rest = unhealthy.length - told.length
  return yield* scrubSecrets(sections.join("") + (rest === 0 ? "" : `\nand ${rest} more`))
})
