import { Effect, Option } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/Ssh.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { commandFailed } from "../remote/execute.ts"
import { type ActivationOutcome, outcomeCommand, parseOutcome } from "../remote/outcome.ts"

/** What became of the activation of a run; nothing where the last activation of that path was not for this run. */
export const askOutcome = (
  server: ServerAccess,
  remotePath: string,
  run: string
): Effect.Effect<Option.Option<ActivationOutcome>, RemoteCommandFailed | SshError, Ssh> =>
  Effect.gen(function*() {
    const command = outcomeCommand(remotePath, server.useSudo)
    const exit = yield* (yield* Ssh).exec(server, command, { timeout: "6 minutes" })
    if (exit.code !== 0) return yield* commandFailed(server, command, exit.code, exit.stderr)
    return Option.filter(parseOutcome(exit.stdout), (outcome) => outcome.run === run)
  })
