import { isCompleted, isUp } from "../../schema/servers/containerStatus.ts"

/** Tone of a state: its colour, always shown with words. */
export type Tone = "good" | "warn" | "bad" | "busy" | "idle"

/** Tone of a container by its status in Docker's words. */
export const toContainerTone = (status: string): Tone => {
  if (isUp(status)) {
    if (status.includes("(unhealthy)")) return "bad"
    return /\(health: starting\)|\(Paused\)/.test(status) ? "warn" : "good"
  }
  return isCompleted(status) || status.startsWith("Created") ? "idle" : status.startsWith("Removal") ? "warn" : "bad"
}
