import type { ReportedStack } from "../../remote/server/overviewCommand.ts"
import { type ObservedProject, type ObservedStack, toProjectState } from "../../schema/Overview.ts"
import { isCompleted, isRestarting, isUnhealthy, isUp } from "../../schema/servers/containerStatus.ts"
import { formatList } from "../../schema/words/expected.ts"

/** State of a stack by its containers, which are found by their compose label. Completed containers do not count. */
export const computeStackState = (
  { release, statuses }: Pick<ReportedStack, "release" | "statuses">
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
export const isDeployed = (seen: Pick<ReportedStack, "release" | "statuses">): boolean =>
  computeStackState(seen).state !== "absent"

const order: ReadonlyArray<ObservedStack["state"]> = ["degraded", null, "stopped", "absent", "running"]

/** Stacks of several targets, the worst state first. */
export const sortWorstFirst = (stacks: ReadonlyArray<ObservedStack>): ReadonlyArray<ObservedStack> =>
  stacks.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state))

/** Names the servers of the targets in the same state as the first one; null if all targets are. */
const serversOf = (targets: ReadonlyArray<ObservedStack>): string | null => {
  const same = targets.filter(({ state }) => state === targets[0]?.state)
  if (same.length === targets.length) return null
  return `on ${formatList(same.map(({ serverId, serverName }) => serverName ?? serverId), "and")}`
}

/**
 * State of a project: of its stack on the server in `container.json`, or the worst one of several targets, or else of
 * the stack on the first server that has it.
 * @param doubts reasons why a stack may exist unseen: `container.json` is invalid, or a server does not answer
 * @param targets number of the targets, whose stacks come first
 */
export const computeProjectState = (
  stacks: ReadonlyArray<ObservedStack>,
  doubts: ReadonlyArray<string>,
  targets = 1
): Pick<ObservedProject, "state" | "stateReason"> => {
  const [stack] = stacks
  if (stack === undefined) {
    return doubts.length === 0
      ? { state: "not deployed", stateReason: null }
      : { state: "unknown", stateReason: doubts.join("; ") }
  }
  const state = toProjectState(stack.state)
  if (state === "unknown") {
    const reason = stack.error ?? "the server was not observed"
    return {
      state,
      stateReason: targets === 1 ? reason : `${stack.serverName ?? stack.serverId}: ${reason}`
    }
  }
  return { state, stateReason: serversOf(stacks.slice(0, targets)) }
}
