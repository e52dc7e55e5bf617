import { type Overview, overviewMaxAgeMillis } from "../../schema/Overview.ts"

const usual = 30_000

/**
 * Delay until the next overview. Shorter during a run, perhaps another caller's, as its end changes the state, and if a
 * state was not observed in time.
 */
export const computePollMillis = (overview: Pick<Overview, "projects"> | undefined): number => {
  const projects = overview?.projects ?? []
  if (projects.some(({ run }) => run !== null)) return overviewMaxAgeMillis + 2_000
  return projects.some(({ state }) => state === "unknown") ? usual / 2 : usual
}
