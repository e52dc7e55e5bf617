import type { Tone } from "../ui/tone.ts"

/** Tone of the platform's application status. */
export const toStatusTone = (status: string): Tone => {
  if (/unhealthy|exited|dead|fail|degraded/i.test(status)) return "bad"
  if (/start|build|queue|restart|progress/i.test(status)) return "busy"
  return /running|healthy/i.test(status) ? "good" : "idle"
}
