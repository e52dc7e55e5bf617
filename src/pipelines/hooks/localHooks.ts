import { Duration, Effect } from "effect"
import type { HookName } from "../../schema/deploy/Hooks.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { pluralize } from "../../schema/words/pluralize.ts"
import { LocalProcesses } from "../../services/local/LocalProcesses.ts"
import { emitOutput } from "../../services/runs/events/emitOutput.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { HookFailed } from "./Hooks.ts"

const keptOutput = 16 * 1024
const shownLines = 3

/** Deploy that a hook belongs to. */
export interface HookedDeploy {
  readonly server: Pick<ServerAccess, "name">
  readonly directory: string
  readonly remotePath: string
}

const variablesOf = ({ directory, remotePath, server }: HookedDeploy, hook: HookName, run: string) => ({
  BERTH_HOOK: hook,
  BERTH_PROJECT: directory.split(/[/\\]/).at(-1) ?? directory,
  BERTH_REMOTE_PATH: remotePath,
  BERTH_RUN: run,
  BERTH_SERVER: server.name
})

const lastLines = (output: string): string => output.trim().split("\n").slice(-shownLines).join("\n")

/**
 * Runs the commands of a hook on this machine one after the other, in the project's directory; fails with the first
 * failure. Their output is added to the run's. Interruption kills the process group of the running command.
 * @param more further variables
 */
export const runLocalHook = Effect.fn("hooks.runLocal")(function*(
  deploy: HookedDeploy,
  hook: HookName,
  commands: ReadonlyArray<ReadonlyArray<string>>,
  timeout: Duration.Duration,
  more: Readonly<Record<string, string>> = {}
): Effect.fn.Return<string, HookFailed, LocalProcesses | Settings | Steps> {
  const processes = yield* LocalProcesses
  const { run } = yield* Steps
  const variables = { ...variablesOf(deploy, hook, run), ...more }
  for (const [program = "", ...args] of commands) {
    const lines = yield* emitOutput("stdout")
    const exit = yield* processes.run(
      { program, args, cwd: deploy.directory, timeout, maxOutput: keptOutput, variables },
      lines.emit
    ).pipe(Effect.mapError(({ message }) => new HookFailed({ reason: message })))
    yield* lines.end
    if (exit.exitCode === 0 && !exit.timedOut) continue
    const why = exit.timedOut
      ? `was stopped after ${Duration.format(timeout)} (hooks.timeout in container.json)`
      : `ended with ${exit.exitCode === null ? "a signal" : `exit code ${exit.exitCode}`}`
    const words = yield* scrubSecrets(lastLines(exit.output), { cut: exit.output.length > keptOutput - 4 })
    return yield* new HookFailed({ reason: `${program} ${why}${words === "" ? "" : `: ${words}`}` })
  }
  return pluralize(commands.length, "command")
})
