import { Data, Effect, ExecutionStrategy, Exit, Option, Schedule, Scope, Stream } from "effect"
import { DeployLocked } from "../../schema/Deploy.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { RemoteCommandFailed, type SshError } from "../../schema/Ssh.ts"
import { Instance } from "../../services/runs/Instance.ts"
import { scrubbed } from "../../services/secrets/scrubbed.ts"
import { serverSecrets } from "../../services/secrets/secretsInUse.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { deployLockCommand, lockedElsewhere } from "../remote/deployLock.ts"
import { linesOf, text } from "../remote/output.ts"

class Held extends Data.TaggedError("Held")<{ readonly by: string }> {}

const signsOfLife = Stream.as(
  Stream.fromSchedule(Schedule.spaced("10 seconds")),
  new TextEncoder().encode("still here\n")
)

/** Keeps what an attempt holds of the outer scope only when it succeeds: the channels that it could wait for are few. */
const keptOnSuccess = <A, E, R>(attempt: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const own = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* Effect.onError(Scope.extend(attempt, own), (cause) => Scope.close(own, Exit.failCause(cause)))
  })

/**
 * Takes the deploy lock of a remote path and keeps it until the scope closes. Behind another process it fails with
 * `DeployLocked`, which names the holder; behind this process, which knows the path by another spelling, it waits. What
 * this process left there with a connection that it lost is no holder.
 * @returns the turn of the path: when it is not that of the preflight, somebody deployed in between
 */
export const holdRemotePath = Effect.fn("deploy.holdRemotePath")(function*(
  server: ServerAccess,
  remotePath: string
): Effect.fn.Return<string, DeployLocked | RemoteCommandFailed | SshError, Ssh | Instance | Scope.Scope> {
  const ssh = yield* Ssh
  const instance = yield* Instance
  const name = yield* instance.hold
  const since = new Date(yield* Effect.clockWith((clock) => clock.currentTimeMillis)).toISOString()
  const holder = `${name}\t${instance.description}, since ${since}`

  const attempt = (gone: string) =>
    Effect.gen(function*() {
      const command = deployLockCommand(remotePath, holder, gone)
      const process = yield* ssh.spawn(server, command, signsOfLife)
      const answer = yield* Stream.runHead(linesOf(process.stdout))
      const [said, turn = ""] = Option.getOrElse(answer, () => "").split("\t")
      if (said === "held") return turn
      const code = yield* process.exit
      if (code === lockedElsewhere) return yield* new Held({ by: Option.getOrElse(answer, () => "\tunknown") })
      const words = scrubbed(yield* text(process.stderr), serverSecrets(server))
      return yield* new RemoteCommandFailed({
        server: server.name,
        host: server.host,
        port: server.port,
        what: command.what,
        code,
        words
      })
    }).pipe(keptOnSuccess)

  const take = (gone: string): Effect.Effect<string, DeployLocked | RemoteCommandFailed | SshError, Scope.Scope> =>
    Effect.catchTag(attempt(gone), "Held", ({ by }) =>
      Effect.gen(function*() {
        const [held = "", words = by] = by.split("\t")
        if (!held.startsWith(instance.id)) {
          return yield* new DeployLocked({ remotePath, server: server.name, holder: words })
        }
        yield* Effect.sleep("200 millis")
        return yield* take((yield* instance.isHolding(held)) ? "" : by)
      }))
  return yield* take("")
})
