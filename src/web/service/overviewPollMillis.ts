import { type Overview, overviewMaxAgeMillis } from "../../schema/Overview.ts"

const usual = 30_000

/**
 * Time until the next overview. One that was made during a run, perhaps another caller's, shows a state that ends with
 * the run; what was not observed in time is observed by the next one.
 */
export const overviewPollMillis = (overview: Pick<Overview, "projects"> | undefined): number => {
  const projects = overview?.projects ?? []
  if (projects.some(({ run }) => run !== null)) return overviewMaxAgeMillis + 2_000
  return projects.some(({ state }) => state === "unknown") ? usual / 2 : usual
}
