import { useEffect, useState } from "react"
import { findFirstStep, type FirstStep } from "../../schema/overview.ts"
import { Overview } from "../overview/Overview.tsx"
import { isStored, useOverview, useProjects, useServers, useSettings } from "../service.ts"
import { lazyComponent } from "../ui/components.tsx"

const key = "berth-first-steps"
type Remembered = "begun" | "skipped"

/** Remembers, until the window is closed, that the steps have begun or were skipped. */
const useRemembered = () => {
  const [remembered, setRemembered] = useState(() => sessionStorage.getItem(key))
  const remember = (what: Remembered) => {
    sessionStorage.setItem(key, what)
    setRemembered(what)
  }
  return { remembered, remember }
}

/** True if the directory of the projects is set up; undefined until that is known. */
const useHasProjects = (isAsked: boolean): boolean | undefined => {
  const projects = useProjects()
  const isEmpty = projects.isFetched && (projects.data ?? []).length === 0
  // A fresh home lists no projects, whether or not the default directory exists.
  const settings = useSettings(isAsked && isEmpty).data?.settings
  if (!projects.isFetched) return undefined
  if (!isEmpty) return true
  return settings?.some((setting) => setting.name === "projects.root" && isStored(setting))
}

/**
 * Next of the first steps; undefined if the overview is shown: once there has been a first deploy, after they were
 * skipped, or until that is known.
 */
const useFirstStep = (): {
  readonly next: FirstStep | undefined
  readonly begin: () => void
  readonly skip: () => void
} => {
  const { remember, remembered } = useRemembered()
  const isAsked = remembered !== "skipped"
  const hasProjects = useHasProjects(isAsked)
  const servers = useServers().data
  const overview = useOverview().data
  // The service observes its servers for seconds: steps that have begun do not wait for that.
  const hasDeployed = overview === undefined ? remembered !== "begun" : overview.firstStep === undefined
  const next = !isAsked || servers === undefined || hasProjects === undefined
    // Other screens report settings that cannot be read.
    ? undefined
    : findFirstStep({ hasProjects, hasServer: servers.length > 0, hasDeployed })
  const isDone = remembered === "begun" && overview !== undefined && overview.firstStep === undefined
  useEffect(() => {
    // The next load of the page must not show them again until the overview is there.
    if (isDone) remember("skipped")
  }, [isDone])
  return { next, begin: () => remember("begun"), skip: () => remember("skipped") }
}

// Loaded on first use: an installation that is set up does not need it.
const FirstSteps = lazyComponent("The first steps", () => import("./FirstSteps.tsx").then((part) => part.FirstSteps))

/** Start screen: the overview, or the first steps of a fresh installation. */
export const Home = () => {
  const { begin, next, skip } = useFirstStep()
  const isShown = next !== undefined
  useEffect(() => {
    if (isShown) begin()
    // Runs once, when the first steps appear, regardless of later renderings.
  }, [isShown])
  return next === undefined ? <Overview /> : <FirstSteps next={next} onSkip={skip} />
}
