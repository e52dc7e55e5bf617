import type { ObservedStack } from "../../schema/Overview.ts"

const isUp = (status: string) => status.startsWith("Up ")
const isAiling = (status: string) => /\((?:unhealthy|Paused)\)/.test(status)
const endedWell = (status: string) => status.startsWith("Exited (0)")
const startsAgain = (status: string) => status.startsWith("Restarting")

/** How a stack does, by what Docker says of each of its containers. One that ended well has done its work. */
export const stackState = (statuses: ReadonlyArray<string>): Pick<ObservedStack, "containers" | "state"> => {
  if (statuses.length === 0) return { state: "absent", containers: { up: 0, total: 0 } }
  const up = statuses.filter(isUp)
  const lasting = up.length === 0 ? statuses : statuses.filter((status) => !endedWell(status))
  const containers = { up: up.length, total: lasting.length }
  if (up.length === 0 && !statuses.some(startsAgain)) return { state: "stopped", containers }
  return { state: up.length < lasting.length || up.some(isAiling) ? "degraded" : "running", containers }
}
