import { useEffect } from "react"
import { Overview } from "../overview/Overview.tsx"
import { lazyComponent } from "../ui/lazyComponent.tsx"
import { useSetUp } from "./useSetUp.ts"

// Loaded on first use: an installation that is set up does not need it.
const FirstSteps = lazyComponent("The first steps", () => import("./FirstSteps.tsx").then((part) => part.FirstSteps))

/** Start screen: the overview, or the first steps of a fresh installation. */
export const Home = () => {
  const { begin, setUp, skip } = useSetUp()
  const isShown = setUp !== undefined
  useEffect(() => {
    if (isShown) begin()
    // Runs once, when the first steps appear, regardless of later renderings.
  }, [isShown])
  return setUp === undefined ? <Overview /> : <FirstSteps setUp={setUp} onSkip={skip} />
}
