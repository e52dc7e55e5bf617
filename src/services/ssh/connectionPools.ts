import { Duration } from "effect"
import { type ConcurrencyLimit, followerLimit } from "../../schema/basics/concurrencyLimits.ts"
import type { CommandPool } from "./RemoteCommand.ts"

const minute = Duration.toMillis("1 minute")

/** A pool of connections to a server, or the connection of a jump host, which all servers behind it share. */
export type PoolName = CommandPool | "jumps"

interface PoolLimits {
  readonly channels: number
  /** Places of callers that stay, which are refused beyond: they may use several connections. Absent without a limit. */
  readonly places?: ConcurrencyLimit
  /** Time after which an unused connection closes. */
  readonly idleMillis: number
}

/**
 * Channels of each connection of a pool. sshd runs at most 10 sessions on a connection and frees one late. Work waits for
 * its turn; followers and commands are refused, because their wait would have no bound.
 */
export const connectionPools: Readonly<Record<PoolName, PoolLimits>> = {
  work: { channels: 4, idleMillis: 5 * minute },
  followers: { channels: 8, places: followerLimit, idleMillis: 5 * minute },
  commands: { channels: 8, places: followerLimit, idleMillis: 5 * minute },
  jumps: { channels: 1, idleMillis: minute }
}
