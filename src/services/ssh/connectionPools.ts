import { Duration } from "effect"
import type { CommandPool } from "./RemoteCommand.ts"

const minute = Duration.toMillis("1 minute")

/** A pool of connections to a server, or the connection of a jump host, which all servers behind it share. */
export type PoolName = CommandPool | "jumps"

interface PoolLimits {
  readonly channels: number
  readonly mostUsers: number
  /** Time after which an unused connection closes. */
  readonly idleMillis: number
}

/**
 * Channels of each pool's connection, and its most users. sshd runs at most 10 sessions on a connection and
 * frees one late. Work waits for its turn; followers are refused, because their wait would have no bound.
 */
export const connectionPools: Readonly<Record<PoolName, PoolLimits>> = {
  work: { channels: 4, mostUsers: Number.POSITIVE_INFINITY, idleMillis: 5 * minute },
  followers: { channels: 8, mostUsers: 8, idleMillis: 5 * minute },
  jumps: { channels: 1, mostUsers: Number.POSITIVE_INFINITY, idleMillis: minute }
}
