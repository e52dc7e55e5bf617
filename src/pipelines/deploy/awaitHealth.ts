import { Clock, Duration, Effect } from "effect"
import type { StackStatus } from "../../schema/Deploy.ts"
import type { ServerAccess } from "../../schema/Server.ts"
import type { SshError } from "../../schema/Ssh.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { type ContainerState, inspectCommand, parseInspect } from "../remote/inspect.ts"
import { ailingContainers, complaints, type ExpectedService, settleMillis, stackStatus } from "./health.ts"

const shortestPause = 50

/** How a stack stood when the waiting ended. */
export interface StackHealth {
  readonly status: StackStatus
  /** What keeps it from being healthy; empty when nothing does. */
  readonly complaints: string
  /** The containers that keep it from being healthy. */
  readonly ailing: ReadonlyArray<ContainerState>
  readonly waited: Duration.Duration
}

/** How long to wait for a stack, and how often to look at it. */
export interface PollOptions {
  readonly timeout: Duration.Duration
  readonly interval: Duration.Duration
}

/** Looks at a stack until it is healthy or the time is up; an inspection that fails is tried again until then. */
export const awaitHealth = Effect.fn("deploy.awaitHealth")(function*(
  server: ServerAccess,
  services: ReadonlyArray<ExpectedService>,
  first: ReadonlyArray<ContainerState>,
  { interval, timeout }: PollOptions
): Effect.fn.Return<StackHealth, SshError, Ssh> {
  const ssh = yield* Ssh
  const began = yield* Clock.currentTimeMillis
  const ids = first.map(({ id }) => id)
  const inspect = Effect.map(
    ssh.exec(server, inspectCommand(ids, server.useSudo), { timeout: "30 seconds" }),
    ({ stdout }) => parseInspect(stdout)
  )

  const judge = (
    seen: ReadonlyArray<ContainerState>
  ): Effect.Effect<StackHealth, SshError> =>
    Effect.gen(function*() {
      const status = stackStatus(services, seen)
      const waited = Duration.millis((yield* Clock.currentTimeMillis) - began)
      const health = {
        status,
        complaints: complaints(services, seen),
        ailing: ailingContainers(services, seen),
        waited
      }
      if (status === "healthy" || ids.length === 0 || Duration.greaterThanOrEqualTo(waited, timeout)) return health
      const left = Duration.subtract(timeout, waited)
      // Containers that only have to show that they stay up are looked at again as soon as they can have.
      const settling = status === "starting" && seen.every(({ health }) => health === "")
      const missing = settleMillis - Math.min(settleMillis, ...seen.map(({ upMillis }) => upMillis))
      const pause = settling ? Duration.min(interval, Duration.millis(Math.max(shortestPause, missing))) : interval
      yield* Effect.sleep(Duration.min(pause, left))
      return yield* Effect.matchEffect(inspect, {
        onSuccess: judge,
        onFailure: (error) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            now - began < Duration.toMillis(timeout) ? judge(seen) : Effect.fail(error))
      })
    })
  return yield* judge(first)
})
