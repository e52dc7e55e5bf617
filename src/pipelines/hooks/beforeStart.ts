import { Duration, Effect, Option } from "effect"
import { abortActivation } from "../../remote/bridge/bridgeCommand.ts"
import { execute } from "../../remote/execute.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { computeSha256 } from "../../services/bytes/sha256.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import type { Hooks } from "./Hooks.ts"

/**
 * Lines of a release's manifest that make an activation run the hook before it starts the stack; empty without a hook.
 */
export const buildStartHookLines = (hooks: Hooks | undefined, run: string): ReadonlyArray<string> =>
  Option.match(hooks?.beforeStart ?? Option.none(), {
    onNone: () => [],
    onSome: ({ command, service }) => {
      const name = `berth-${service}-run-${computeSha256(`${run}\n${service}`).slice(0, 12)}`
      const seconds = Math.ceil(Duration.toSeconds(hooks?.timeout ?? Duration.zero))
      // The prefix keeps an empty argument as a line.
      return [`hook\t${service}\t${name}\t${seconds}`, ...command.map((argument) => `argument\tx${argument}`)]
    }
  })

/**
 * Makes the server stop the hook, or not start it, and undo the activation if the run is cancelled.
 * @param lines lines of the hook in the release's manifest; without any, there is nothing to stop
 */
export const stopHookWhenCancelled =
  (server: ServerAccess, remotePath: string, lines: ReadonlyArray<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Ssh | Steps> =>
    lines.length === 0 ? effect : Effect.flatMap(
      Steps,
      ({ isCancelled, run }) =>
        Effect.onInterrupt(
          effect,
          () =>
            uncancellable(
              Effect.whenEffect(Effect.ignore(execute(server, abortActivation(remotePath, run))), isCancelled)
            )
        )
    )
