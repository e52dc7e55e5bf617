import type { ContainerState } from "../../../remote/stack/inspectCommand.ts"

/** A container that runs again shows no exit code: the last one that was seen stays with its later states. */
export interface RememberedContainer extends ContainerState {
  /** Exit code of its last end, where that was seen. */
  readonly lastExit: number | undefined
}

const hasEnded = ({ status }: ContainerState) => status === "restarting" || status === "exited" || status === "dead"

/** Remembers by container id the worst that any look at a stack has seen, and adds it to what the next look sees. */
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
