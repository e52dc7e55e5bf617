import { lazy } from "react"
import { Overview } from "../overview/Overview.tsx"
import { Later } from "../ui/Later.tsx"
import { useSetUp, useSkipped } from "./useSetUp.ts"

const FirstSteps = lazy(() => import("./FirstSteps.tsx"))

/** Start screen: the overview, or the first steps of a fresh installation in its place. */
export const Home = () => {
  const setUp = useSetUp()
  const { skip, skipped } = useSkipped()
  if (setUp === undefined || skipped || (setUp.hasProjects && setUp.hasTarget)) return <Overview />
  return (
    <Later what="The first steps">
      <FirstSteps setUp={setUp} onSkip={skip} />
    </Later>
  )
}
