import { useEffect } from "react"
import { Overview } from "../overview/Overview.tsx"
import { later } from "../ui/later.tsx"
import { useSetUp } from "./useSetUp.ts"

// An installation that is set up does without.
const FirstSteps = later("The first steps", () => import("./FirstSteps.tsx").then((part) => part.FirstSteps))

/** Start screen: the overview, or the first steps of a fresh installation in its place. */
export const Home = () => {
  const { begin, setUp, skip } = useSetUp()
  const isShown = setUp !== undefined
  useEffect(() => {
    if (isShown) begin()
    // Begun once, whatever is rendered afterwards.
  }, [isShown])
  return setUp === undefined ? <Overview /> : <FirstSteps setUp={setUp} onSkip={skip} />
}
