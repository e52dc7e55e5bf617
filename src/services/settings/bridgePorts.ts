import { Effect } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "./Settings.ts"

/** Ports of a server that bridges may publish. */
export interface BridgePorts {
  readonly first: number
  readonly last: number
}

/** The setting `deploy.bridgePorts`. */
export const bridgePorts: Effect.Effect<BridgePorts, SettingsError, Settings> = Effect.gen(function*() {
  const [first = "", last = ""] = (yield* (yield* Settings).get("deploy.bridgePorts")).split("-")
  return { first: Number(first), last: Number(last) }
})

/** True if a bridge may publish a port. */
export const isBridgePort = ({ first, last }: BridgePorts, port: number): boolean => port >= first && port <= last
