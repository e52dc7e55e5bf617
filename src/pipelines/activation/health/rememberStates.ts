import type { ContainerState } from "../../../remote/stack/inspectCommand.ts"

/** State with the last known exit code, since a container that runs again no longer shows one. */
export interface RememberedContainer extends ContainerState {
  /** Last exit code, if an inspection has seen one. */
  readonly lastExit: number | undefined
}

const hasEnded = ({ status }: ContainerState) => status === "restarting" || status === "exited" || status === "dead"

/** Keeps the highest restart count and the last exit code of each container, and adds them to later inspections. */
export const rememberStates = () => {
  const memory = new Map<string, Pick<RememberedContainer, "lastExit" | "restarts">>()
  return (states: ReadonlyArray<ContainerState>): ReadonlyArray<RememberedContainer> =>
    states.map((state) => {
      const before = memory.get(state.id)
      const now = {
        restarts: Math.max(state.restarts, before?.restarts ?? 0),
        lastExit: hasEnded(state) ? state.exitCode : before?.lastExit
      }
      memory.set(state.id, now)
      return { ...state, ...now }
    })
}
