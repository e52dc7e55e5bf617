import { Effect } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import { RemoteCommandFailed, type SshError } from "../../schema/Ssh.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { type ExecOptions, type RemoteExit, Ssh } from "../../services/ssh/Ssh.ts"

const longestWords = 2_000

/** Runs a command to its end; an exit code other than 0 fails with what the server said. */
export const execute = Effect.fn("remote.execute")(function*(
  server: ServerAccess,
  command: RemoteCommand,
  options?: ExecOptions
): Effect.fn.Return<RemoteExit, RemoteCommandFailed | SshError, Ssh> {
  const exit = yield* (yield* Ssh).exec(server, command, options)
  if (exit.code === 0) return exit
  const said = exit.stderr.trim() === "" ? exit.stdout.trim() : exit.stderr.trim()
  return yield* new RemoteCommandFailed({
    server: server.name,
    host: server.host,
    port: server.port,
    what: command.what,
    code: exit.code,
    words: said.slice(-longestWords)
  })
})
