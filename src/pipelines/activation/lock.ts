import { Data, Duration, Effect, ExecutionStrategy, Exit, Option, Scope, Stream } from "effect"
import { deployLockCommand, lockedElsewhere } from "../../remote/deploy.ts"
import { DeployLocked } from "../../schema/deploys.ts"
import type { RemoteCommandFailed, ServerAccess, SshError } from "../../schema/ssh.ts"
import type { Stack } from "../../schema/stacks.ts"
import { Locks, makeDeploySlots } from "../../services/locks/Locks.ts"
import { Instance } from "../../services/runs/Runs.ts"
import { Steps } from "../../services/runs/Steps.ts"
import { withConnection } from "../../services/ssh/Connections.ts"
import { makeCommandFailed, scrubServerOutput, type Ssh } from "../../services/ssh/Ssh.ts"
import { heartbeat, spawnWatched } from "../../services/ssh/SshLive.ts"

class LockTaken extends Data.TaggedError("LockTaken")<{ readonly by: string }> {}

/** The server waits up to 5 minutes for unfinished work of an earlier deploy. */
const silenceTimeout = "6 minutes"
/** Maximum waits: behind another deploy of this process, and for the server to release the lock of a dead one. */
const waitLimitMillis = Duration.toMillis("30 minutes")
const releaseLimitMillis = Duration.toMillis("1 minute")
const longestHolder = 300
const pauses = { first: 200, longest: 15_000 }

/** Releases the resources of a failed attempt at once, because SSH channels are scarce. */
const closeOnFailure = <A, E, R>(attempt: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const own = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* Effect.onError(Scope.extend(attempt, own), (cause) => Scope.close(own, Exit.failCause(cause)))
  })

/**
 * Takes the deploy lock of a remote path and keeps it until the scope closes. Fails with `DeployLocked`, which names
 * the holder, if another process holds it.
 * Waits if this process holds it under another spelling of the path. A lock left over from a lost connection of this
 * process does not count.
 * @returns the revision of the deployed files; if it differs from that of the preflight, another deploy came in between
 */
export const acquireDeployLock = Effect.fn("deploy.acquireDeployLock")(function*(
  { remotePath, server }: Stack
): Effect.fn.Return<string, DeployLocked | RemoteCommandFailed | SshError, Ssh | Instance | Scope.Scope> {
  const instance = yield* Instance
  const name = yield* instance.hold
  const since = new Date(yield* Effect.clockWith((clock) => clock.currentTimeMillis)).toISOString()
  const holder = `${name}\t${instance.description}, since ${since}`

  const attempt = (gone: string) =>
    Effect.gen(function*() {
      const command = deployLockCommand(remotePath, holder, gone)
      const process = yield* spawnWatched(server, command, { silence: silenceTimeout, heartbeat })
      const answer = yield* Stream.runHead(process.lines)
      const [said, revision = ""] = Option.getOrElse(answer, () => "").split("\t")
      if (said === "held") return revision
      const code = yield* process.exit
      if (code === lockedElsewhere) return yield* new LockTaken({ by: Option.getOrElse(answer, () => "\tunknown") })
      return yield* makeCommandFailed(server, command, code, yield* process.stderr)
    }).pipe(closeOnFailure)

  const begun = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const take = (
    gone: string,
    pause: number,
    goneSince: number
  ): Effect.Effect<string, DeployLocked | RemoteCommandFailed | SshError, Ssh | Scope.Scope> =>
    Effect.catchTag(attempt(gone), "LockTaken", ({ by }) =>
      Effect.gen(function*() {
        const [held = "", words = by] = by.split("\t")
        const locked = new DeployLocked({
          remotePath,
          server: server.name,
          holder: scrubServerOutput(server, words).slice(0, longestHolder)
        })
        if (!held.startsWith(instance.id)) return yield* locked
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const lives = held !== name && (yield* instance.isHolding(held))
        const since = lives ? now : goneSince
        if (now - begun >= waitLimitMillis || now - since >= releaseLimitMillis) return yield* locked
        yield* Effect.sleep(pause)
        return yield* take(lives ? "" : by, Math.min(pause * 1.5, pauses.longest), since)
      }))
  return yield* take("", pauses.first, begun)
})

/** Stacks of one server that this process works on concurrently, each over its own connection. */
const deploysAtOnce = 4

const waitStep = "wait"

/**
 * Runs an effect on a stack over its own connection, next to at most three others on the same server. Waits for a place
 * in the step `wait`. Runs on the same remote path are serialized by the deploy lock, not here.
 */
export const limitConcurrentDeploys = (server: Pick<ServerAccess, "host" | "name" | "port">) =>
<A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Locks | Steps> =>
  Effect.flatMap(Effect.all([Locks, Steps]), ([locks, steps]) => {
    const detail = `for one of the ${deploysAtOnce} others that work on "${server.name}" to end`
    const waited = Effect.flatMap(steps.all, (all) =>
      all.some(({ status, step }) =>
          step === waitStep && status === "running"
        )
        ? steps.record({ step: waitStep, status: "done", detail })
        : Effect.void)
    return locks.withPlace(makeDeploySlots(server), {
      places: deploysAtOnce,
      waiting: steps.record({ step: waitStep, status: "running", detail })
    })((index) => Effect.zipRight(waited, withConnection(index)(effect)))
  })
