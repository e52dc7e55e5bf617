import { Data, Effect, Option, Schedule, Stream } from "effect"
import type { Scope } from "effect"
import { DeployLocked } from "../../schema/Deploy.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import { RemoteCommandFailed, type SshError } from "../../schema/Ssh.ts"
import { Instance } from "../../services/runs/Instance.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { deployLockCommand, lockedElsewhere } from "../remote/deployLock.ts"
import { linesOf, text } from "../remote/output.ts"

class Held extends Data.TaggedError("Held")<{ readonly by: string }> {}

/**
 * Takes the deploy lock of a remote path and keeps it until the scope closes. Behind another process it fails with
 * `DeployLocked`, which names the holder; behind this process, which knows the path by another spelling, it waits.
 */
export const holdRemotePath = Effect.fn("deploy.holdRemotePath")(function*(
  server: ServerAccess,
  remotePath: string
): Effect.fn.Return<void, DeployLocked | RemoteCommandFailed | SshError, Ssh | Instance | Scope.Scope> {
  const ssh = yield* Ssh
  const instance = yield* Instance
  const since = new Date(yield* Effect.clockWith((clock) => clock.currentTimeMillis)).toISOString()
  const holder = `${instance.id}\t${instance.description}, since ${since}`

  const attempt = Effect.gen(function*() {
    const command = deployLockCommand(remotePath, holder)
    const process = yield* ssh.spawn(server, command)
    const answer = yield* Stream.runHead(linesOf(process.stdout))
    if (Option.contains(answer, "held")) return
    const code = yield* process.exit
    if (code === lockedElsewhere) return yield* new Held({ by: Option.getOrElse(answer, () => "\tunknown") })
    const words = yield* text(process.stderr)
    return yield* new RemoteCommandFailed({
      server: server.name,
      host: server.host,
      port: server.port,
      what: command.what,
      code,
      words
    })
  })

  yield* attempt.pipe(
    Effect.retry({
      while: (error) => error._tag === "Held" && error.by.startsWith(instance.id),
      schedule: Schedule.spaced("200 millis")
    }),
    Effect.catchTag(
      "Held",
      ({ by }) => new DeployLocked({ remotePath, server: server.name, holder: by.split("\t")[1] ?? by })
    )
  )
})
