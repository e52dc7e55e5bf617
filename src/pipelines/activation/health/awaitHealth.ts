import { Clock, Duration, Effect } from "effect"
import { exitsCommand, parseExits } from "../../../remote/stack/exitsCommand.ts"
import { type ContainerState, inspectCommand, parseInspect } from "../../../remote/stack/inspectCommand.ts"
import type { StackStatus } from "../../../schema/deploy/Deploy.ts"
import type { ServerAccess } from "../../../schema/servers/Server.ts"
import type { SshError } from "../../../schema/servers/Ssh.ts"
import { Ssh } from "../../../services/ssh/Ssh.ts"
import type { HealthOptions } from "./healthOptions.ts"
import { type RememberedContainer, rememberStates } from "./rememberStates.ts"
import {
  computeMillisUntilStable,
  computeStackStatus,
  describeComplaints,
  type ExpectedService,
  findUnhealthyContainers
} from "./stackHealth.ts"

const shortestPause = 50

/** State of a stack when the wait ended. */
export interface StackHealth {
  readonly status: StackStatus
  /** Reasons why it is not healthy; empty if it is. */
  readonly complaints: string
  /** The containers that keep it from being healthy. */
  readonly unhealthy: ReadonlyArray<RememberedContainer>
  readonly waited: Duration.Duration
}

/**
 * Inspects a stack until it is healthy or the time is up; retries failed inspections until then. Signs of a crash loop
 * in any inspection also count in the last one.
 */
export const awaitHealth = Effect.fn("deploy.awaitHealth")(function*(
  server: ServerAccess,
  services: ReadonlyArray<ExpectedService>,
  first: ReadonlyArray<ContainerState>,
  { interval, timeout }: HealthOptions
): Effect.fn.Return<StackHealth, SshError, Ssh> {
  const ssh = yield* Ssh
  const began = yield* Clock.currentTimeMillis
  const ids = first.map(({ id }) => id)
  const inspect = Effect.map(
    ssh.exec(server, inspectCommand(ids, server.useSudo), { timeout: "30 seconds" }),
    ({ stdout }) => parseInspect(stdout)
  )

  const remember = rememberStates()
  /** Adds exit codes that the inspections missed: a container can crash and restart between two of them. */
  const withExits = (seen: ReadonlyArray<RememberedContainer>) => {
    const asked = seen.filter(({ lastExit, restarts }) => restarts > 0 && lastExit === undefined).map(({ id }) => id)
    return asked.length === 0 ? Effect.succeed(seen) : ssh.exec(server, exitsCommand(asked, server.useSudo), {
      timeout: "10 seconds"
    }).pipe(
      Effect.map(({ stdout }) => parseExits(stdout)),
      Effect.map((exits) => seen.map((state) => ({ ...state, lastExit: state.lastExit ?? exits.get(state.id) }))),
      Effect.orElseSucceed(() => seen)
    )
  }

  const judge = (states: ReadonlyArray<ContainerState>): Effect.Effect<StackHealth, SshError> =>
    Effect.gen(function*() {
      const seen = remember(states)
      const status = computeStackStatus(services, seen)
      const waited = Duration.millis((yield* Clock.currentTimeMillis) - began)
      if (status === "healthy" || ids.length === 0 || Duration.greaterThanOrEqualTo(waited, timeout)) {
        const told = status === "healthy" ? seen : yield* withExits(seen)
        return {
          status,
          complaints: describeComplaints(services, told),
          unhealthy: findUnhealthyContainers(services, told),
          waited
        }
      }
      const left = Duration.subtract(timeout, waited)
      // Containers without a health check only need enough uptime, so they are inspected again as soon as they can have
      // it.
      const settling = status === "starting" && seen.every(({ health }) => health === "")
      const missing = Math.max(0, ...seen.map(computeMillisUntilStable))
      const pause = settling ? Duration.min(interval, Duration.millis(Math.max(shortestPause, missing))) : interval
      yield* Effect.sleep(Duration.min(pause, left))
      return yield* Effect.matchEffect(inspect, {
        onSuccess: judge,
        onFailure: (error) =>
          Effect.flatMap(
            Clock.currentTimeMillis,
            (now) => now - began < Duration.toMillis(timeout) ? judge(states) : Effect.fail(error)
          )
      })
    })
  return yield* judge(first)
})
