import { Overview } from "../overview/Overview.tsx"
import { later } from "../ui/later.tsx"
import { useSetUp, useSkipped } from "./useSetUp.ts"

// An installation that is set up does without.
const FirstSteps = later("The first steps", () => import("./FirstSteps.tsx").then((part) => part.FirstSteps))

/** Start screen: the overview, or the first steps of a fresh installation in its place. */
export const Home = () => {
  const setUp = useSetUp()
  const { skip, skipped } = useSkipped()
  if (setUp === undefined || skipped || (setUp.hasProjects && setUp.hasTarget)) return <Overview />
  return <FirstSteps setUp={setUp} onSkip={skip} />
}
