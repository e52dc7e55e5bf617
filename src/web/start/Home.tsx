import { useEffect, useState } from "react"
import type { LocalProject } from "../../schema/projects.ts"
import type { ListedSetting } from "../../schema/settingsList.ts"
import { Overview } from "../overview/Overview.tsx"
import { isStored, useProjects, useServers, useSettings } from "../service.ts"
import { lazyComponent } from "../ui/components.tsx"
import type { SetUp } from "./FirstSteps.tsx"

/**
 * True if a project names a server or declares applications for a platform, which completes the last of the first
 * steps.
 */
const hasTarget = (projects: ReadonlyArray<LocalProject>): boolean =>
  projects.some(({ hasPlatformJson, serverId }) => serverId !== null || hasPlatformJson)

/** True if the settings name the projects root: the installation was set up. */
const isRootNamed = (settings: ReadonlyArray<Pick<ListedSetting, "name" | "source">>): boolean =>
  settings.some((setting) => setting.name === "projects.root" && isStored(setting))

/** True if the projects root is set up. A fresh home lists no projects, whether or not the default root exists. */
const hasRoot = (
  projects: ReadonlyArray<LocalProject> | undefined,
  settings: ReadonlyArray<Pick<ListedSetting, "name" | "source">>
): boolean => projects !== undefined && (projects.length > 0 || isRootNamed(settings))

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

/**
 * State of the first steps; undefined if the overview is shown: in an installation that is set up, or until that is
 * known. Steps that have begun continue after the first one, which sets the projects root.
 */
const useSetUp = (): {
  readonly setUp: SetUp | undefined
  readonly begin: () => void
  readonly skip: () => void
} => {
  const projects = useProjects()
  const servers = useServers()
  const { remember, remembered } = useRemembered()
  // A failed query is pending again during its retry, which must not change the screen.
  const isDone = projects.data !== undefined && hasTarget(projects.data)
  const settings = useSettings(projects.isFetched && !isDone && remembered !== "skipped").data?.settings
  const isFresh = remembered === "begun" ||
    (remembered === null && settings !== undefined && !isRootNamed(settings))
  const setUp = servers.data === undefined || !projects.isFetched || isDone || settings === undefined || !isFresh
    // Other screens report settings that cannot be read.
    ? undefined
    : { hasProjects: hasRoot(projects.data, settings), hasServer: servers.data.length > 0 }
  return { setUp, begin: () => remember("begun"), skip: () => remember("skipped") }
}

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
