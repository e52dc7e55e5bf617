import { useState } from "react"
import type { LocalProject } from "../../schema/projects/Project.ts"
import type { ListedSetting } from "../../schema/settings/SettingsList.ts"
import { useProjects, useServers } from "../service/queries.ts"
import { isStored } from "../settings/settingText.ts"
import { useSettings } from "../settings/useSettings.ts"

/** Steps of a fresh installation that are done. */
export interface SetUp {
  readonly hasProjects: boolean
  readonly hasServer: boolean
}

/** True if a project names a server, or declares applications for a platform: the last of the first steps. */
const hasTarget = (projects: ReadonlyArray<LocalProject>): boolean =>
  projects.some(({ hasPlatformJson, serverId }) => serverId !== null || hasPlatformJson)

/** True if the settings name the directory of the projects: somebody has set up this installation. */
export const isRootNamed = (settings: ReadonlyArray<Pick<ListedSetting, "name" | "source">>): boolean =>
  settings.some((setting) => setting.name === "projects.root" && isStored(setting))

const key = "berth-first-steps"
type Remembered = "begun" | "skipped"

/** Remembers, until the window is closed, that the steps were begun, or that the overview is wanted all the same. */
const useRemembered = () => {
  const [remembered, setRemembered] = useState(() => sessionStorage.getItem(key))
  const remember = (what: Remembered) => {
    sessionStorage.setItem(key, what)
    setRemembered(what)
  }
  return { remembered, remember }
}

/**
 * Standing of the first steps; undefined where the overview is shown: in an installation that is set up, and until that is
 * known. Naming the directory of the projects is the first step, so that steps that were begun go on after it.
 */
export const useSetUp = (): {
  readonly setUp: SetUp | undefined
  readonly begin: () => void
  readonly skip: () => void
} => {
  const projects = useProjects()
  const servers = useServers()
  const { remember, remembered } = useRemembered()
  // A query that failed is pending again while it is repeated, and must not change the screen then.
  const isDone = projects.data !== undefined && hasTarget(projects.data)
  const settings = useSettings(projects.isFetched && !isDone && remembered === null).data?.settings
  const isFresh = remembered === "begun" ||
    (remembered === null && settings !== undefined && !isRootNamed(settings))
  const setUp = servers.data === undefined || !projects.isFetched || isDone || !isFresh
    // Without settings that can be read, other screens say what is wrong.
    ? undefined
    : { hasProjects: projects.data !== undefined, hasServer: servers.data.length > 0 }
  return { setUp, begin: () => remember("begun"), skip: () => remember("skipped") }
}
