import { Context, Effect, Layer, Ref, Stream } from "effect"
import type { ServerAccess } from "../../src/schema/servers/Server.ts"
import { ConnectionLost, RemoteOutputTooLong } from "../../src/schema/servers/Ssh.ts"
import type { SshError } from "../../src/schema/servers/Ssh.ts"
import { countAnswer, usualLimit } from "../../src/services/ssh/AnswerLimit.ts"
import type { RemoteCommand } from "../../src/services/ssh/RemoteCommand.ts"
import { renderCommand } from "../../src/services/ssh/remoteShell.ts"
import { scrubServerSecrets } from "../../src/services/ssh/scrubServerSecrets.ts"
import { Ssh } from "../../src/services/ssh/Ssh.ts"
import type { ExecOptions, RemoteExit } from "../../src/services/ssh/Ssh.ts"

/** A command that a server was asked to run, with everything that was written to it. */
export interface AskedCommand extends RemoteCommand {
  readonly server: ServerAccess
  readonly input: Buffer
}

/** Exit: absent fields are exit code 0 and no output. `stays`: a spawned one runs until its scope closes. */
export interface SshReply extends Partial<RemoteExit> {
  readonly stays?: boolean
}

/** A reply, an effect that makes one or fails, a function of what was asked, or several for successive calls. */
export type SshAnswer =
  | SshReply
  | Effect.Effect<SshReply, SshError>
  | ((asked: AskedCommand) => SshReply | Effect.Effect<SshReply, SshError>)

/** Commands sent to servers, in order. */
export class SshAsked
  extends Context.Tag("berth/test/SshAsked")<SshAsked, Effect.Effect<ReadonlyArray<AskedCommand>>>()
{}

const all = <E>(input: Stream.Stream<Uint8Array, E>) =>
  Stream.runFold(input, Buffer.alloc(0), (whole, chunk) => Buffer.concat([whole, chunk]))

/**
 * Servers that answer by the command's `what`. A list answers one call after the other, its last entry all further
 * ones. A command without an answer is a defect of the test; a command that a real server would refuse is refused.
 */
export const SshTest = (
  answers: Readonly<Record<string, SshAnswer | ReadonlyArray<SshAnswer>>>
): Layer.Layer<Ssh | SshAsked> =>
  Layer.effectContext(Effect.gen(function*() {
    const asked = yield* Ref.make<ReadonlyArray<AskedCommand>>([])
    const calls = new Map<string, number>()

    const answerTo = (command: AskedCommand): Effect.Effect<SshReply, SshError> => {
      const answer = answers[command.what]
      if (answer === undefined) return Effect.dieMessage(`SshTest has no answer to "${command.what}"`)
      const call = calls.get(command.what) ?? 0
      calls.set(command.what, call + 1)
      const one: SshAnswer | undefined = isList(answer) ? answer[Math.min(call, answer.length - 1)] : answer
      if (one === undefined) return Effect.dieMessage(`SshTest has an empty list for "${command.what}"`)
      const reply = typeof one === "function" ? one(command) : one
      return Effect.isEffect(reply) ? reply : Effect.succeed(reply)
    }

    const ask = <E>(
      server: ServerAccess,
      command: RemoteCommand,
      stdin: Stream.Stream<Uint8Array, E>,
      isWhole: boolean
    ) =>
      Effect.gen(function*() {
        yield* renderCommand(command)
        const input = Buffer.concat([Buffer.from(command.stdin ?? ""), yield* all(stdin)])
        const one = { ...command, server, input }
        yield* Ref.update(asked, (before) => [...before, one])
        const reply = yield* answerTo(one)
        const { help, ...most } = command.limit ?? usualLimit
        const limit = isWhole ? countAnswer({ ...most, help })(new TextEncoder().encode(reply.stdout)) : undefined
        if (limit === undefined) return reply
        const { host, name, port } = server
        return yield* new RemoteOutputTooLong({ server: name, host, port, what: command.what, limit, help })
      })

    const ssh = Ssh.of({
      exec: <E = never>(server: ServerAccess, command: RemoteCommand, options: ExecOptions<E> = {}) =>
        Effect.map(
          ask(server, command, options.stdin ?? Stream.empty, options.keepLast === undefined),
          ({ code = 0, stderr = "", stdout = "", truncated = false }) =>
            scrubServerSecrets(server, { code, stdout, stderr, ...truncated ? { truncated } : {} })
        ),
      spawn: (server, command) =>
        Effect.map(
          ask(server, command, Stream.empty, false),
          ({ code = 0, stays = false, stderr = "", stdout = "" }) => {
            const streamOf = (text: string) => {
              const bytes = Stream.succeed(new TextEncoder().encode(text)).pipe(
                Stream.filter((chunk) => chunk.length > 0)
              )
              return stays ? Stream.concat(bytes, Stream.never) : bytes
            }
            return {
              stdout: streamOf(stdout),
              stderr: streamOf(stderr),
              exit: stays ? Effect.never : Effect.succeed(code),
              resize: () => Effect.void
            }
          }
        )
    })
    return Context.make(Ssh, ssh).pipe(Context.add(SshAsked, Ref.get(asked)))
  }))

const isList = (answer: SshAnswer | ReadonlyArray<SshAnswer>): answer is ReadonlyArray<SshAnswer> =>
  Array.isArray(answer)

/** The failure of a connection that broke, for answers. */
export const lost = (server: Pick<ServerAccess, "host" | "name" | "port">): Effect.Effect<never, ConnectionLost> =>
  new ConnectionLost({
    server: server.name,
    host: server.host,
    port: server.port,
    reason: "the server closed the connection"
  })
