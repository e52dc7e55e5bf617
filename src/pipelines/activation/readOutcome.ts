import { Effect, Option } from "effect"
import { type ActivationOutcome, outcomeCommand, parseOutcome } from "../../remote/activation/outcomeCommand.ts"
import { makeCommandFailed } from "../../remote/execute.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { RemoteCommandFailed, SshError } from "../../schema/servers/Ssh.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"

/** Outcome of a run's activation; none if the last activation of that path belongs to another run. */
export const readOutcome = (
  server: ServerAccess,
  remotePath: string,
  run: string
): Effect.Effect<Option.Option<ActivationOutcome>, RemoteCommandFailed | SshError, Ssh> =>
  Effect.gen(function*() {
    const command = outcomeCommand(remotePath, server.useSudo)
    const exit = yield* (yield* Ssh).exec(server, command, { timeout: "6 minutes" })
    if (exit.code !== 0) return yield* makeCommandFailed(server, command, exit.code, exit.stderr)
    return Option.filter(parseOutcome(exit.stdout), (outcome) => outcome.run === run)
  })
