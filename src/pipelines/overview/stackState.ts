import type { StackSight } from "../../remote/server/overviewCommand.ts"
import type { ObservedProject, ObservedStack } from "../../schema/Overview.ts"

const isUp = (status: string) => status.startsWith("Up ")
const isUnhealthy = (status: string) => /\((?:unhealthy|Paused)\)/.test(status)
const isCompleted = (status: string) => status.startsWith("Exited (0)")
const isRestarting = (status: string) => status.startsWith("Restarting")

/** State of a stack by its containers, found by their compose label. Containers that completed do not count. */
export const stackState = (
  { release, statuses }: Pick<StackSight, "release" | "statuses">
): Pick<ObservedStack, "containers" | "state"> => {
  // A release without containers was deployed and can be started.
  if (statuses.length === 0) return { state: release === null ? "absent" : "stopped", containers: { up: 0, total: 0 } }
  const up = statuses.filter(isUp)
  const lasting = up.length === 0 ? statuses : statuses.filter((status) => !isCompleted(status))
  const containers = { up: up.length, total: lasting.length }
  if (up.length === 0 && !statuses.some(isRestarting)) return { state: "stopped", containers }
  return { state: up.length < lasting.length || up.some(isUnhealthy) ? "degraded" : "running", containers }
}

/** True if a stack is deployed, running or not. */
export const isDeployed = (seen: Pick<StackSight, "release" | "statuses">): boolean =>
  stackState(seen).state !== "absent"

/**
 * State of a project: that of its stack on the server that `container.json` names, or else on the first server that has it.
 * @param doubts reasons why a stack may exist that was not seen: `container.json` is invalid, a server does not answer
 */
export const projectState = (
  [stack]: ReadonlyArray<ObservedStack>,
  doubts: ReadonlyArray<string>
): Pick<ObservedProject, "state" | "stateReason"> => {
  if (stack === undefined) {
    return doubts.length === 0
      ? { state: "not deployed", stateReason: null }
      : { state: "unknown", stateReason: doubts.join("; ") }
  }
  if (stack.state === null) return { state: "unknown", stateReason: stack.error ?? "the server was not observed" }
  return { state: stack.state === "absent" ? "not deployed" : stack.state, stateReason: null }
}
