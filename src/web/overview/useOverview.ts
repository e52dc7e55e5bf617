import type { ObservedProject, ObservedStack } from "../../schema/Overview.ts"
import { useCall } from "../service/queries.ts"
import type { Tone } from "../ui/Badge.tsx"

/** Everything at one look, looked at anew twice a minute. */
export const useOverview = () =>
  useCall(["overview"], (berth) => berth.overview(), { every: 30_000, staleTime: 15_000 })

const tones = { running: "good", degraded: "bad", stopped: "warn", absent: "idle" } as const

/** How a stack stands, in a few words. */
export const stackWords = (
  { containers, error, state }: ObservedStack
): { readonly tone: Tone; readonly words: string } => {
  if (state === null) return { tone: error === undefined ? "idle" : "bad", words: "not seen" }
  if (state === "absent") return { tone: "idle", words: "not deployed" }
  const up = containers === null ? "" : ` · ${containers.up} of ${containers.total} up`
  return { tone: tones[state], words: `${state}${up}` }
}

const severity: ReadonlyArray<Tone> = ["bad", "warn", "busy", "good", "idle"]

/** The state of a project that matters most: of several stacks the worst. */
export const projectTone = (project: ObservedProject | undefined): Tone => {
  if (project === undefined) return "idle"
  if (project.run !== null) return "busy"
  const all = project.servers.map((stack) => stackWords(stack).tone)
  return severity.find((tone) => all.includes(tone)) ?? "idle"
}
