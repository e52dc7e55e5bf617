import { Effect } from "effect"
import type { ServerAccess } from "../schema/servers/Server.ts"
import { RemoteCommandFailed, type SshError } from "../schema/servers/Ssh.ts"
import { scrubText } from "../services/secrets/scrubText.ts"
import { listServerSecrets } from "../services/secrets/secretsInUse.ts"
import type { RemoteCommand } from "../services/ssh/RemoteCommand.ts"
import { type ExecOptions, type RemoteExit, Ssh } from "../services/ssh/Ssh.ts"

const longestWords = 2_000

/** Output of a server for an error message, without secrets and limited to the end. */
export const scrubServerOutput = (server: ServerAccess, said: string): string =>
  scrubText(said.trim(), listServerSecrets(server)).slice(-longestWords)

/** Error of a failed command; `said` is the server's output. */
export const makeCommandFailed = (
  server: ServerAccess,
  { what }: Pick<RemoteCommand, "what">,
  code: number | null,
  said: string
): RemoteCommandFailed =>
  new RemoteCommandFailed({
    server: server.name,
    host: server.host,
    port: server.port,
    what,
    code,
    words: scrubServerOutput(server, said)
  })

/** Runs a command to its end; an exit code other than 0 fails with the server's output. */
export const execute = Effect.fn("remote.execute")(function*(
  server: ServerAccess,
  command: RemoteCommand,
  options?: ExecOptions
): Effect.fn.Return<RemoteExit, RemoteCommandFailed | SshError, Ssh> {
  const exit = yield* (yield* Ssh).exec(server, command, options)
  if (exit.code === 0) return exit
  return yield* makeCommandFailed(server, command, exit.code, exit.stderr.trim() === "" ? exit.stdout : exit.stderr)
})
