import type { ObservedProject, ProjectState } from "../../../schema/Overview.ts"
import type { Tone } from "../../ui/tone.ts"

const tones: Record<ProjectState, Tone> = {
  running: "good",
  degraded: "bad",
  stopped: "warn",
  "not deployed": "idle",
  unknown: "bad"
}

/** State of a project as the service computed it, with the number of containers that are up. */
export const buildStateBadge = (
  { servers: [stack], state }: ObservedProject
): { readonly tone: Tone; readonly words: string } => {
  const containers = stack?.containers ?? null
  const up = containers === null || containers.total === 0 ? "" : ` · ${containers.up} of ${containers.total} up`
  return { tone: tones[state], words: `${state}${up}` }
}

/** Tone of a project: busy during a run, else the tone of its state. */
export const toProjectTone = (project: ObservedProject | undefined): Tone =>
  project === undefined ? "idle" : project.run !== null ? "busy" : tones[project.state]
