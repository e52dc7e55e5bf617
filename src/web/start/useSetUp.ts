import { useState } from "react"
import { useProjects, useServers } from "../service/queries.ts"

/** Steps of a fresh installation that are done. */
export interface SetUp {
  readonly hasProjects: boolean
  readonly hasServer: boolean
  readonly hasTarget: boolean
}

/**
 * Standing of the first steps; undefined until it is known. The steps are done when a project names a server, or declares
 * applications for a platform.
 */
export const useSetUp = (): SetUp | undefined => {
  const projects = useProjects()
  const servers = useServers()
  // Without settings that can be read, other screens say what is wrong.
  // A query that failed is pending again while it is repeated, and must not change the screen then.
  if (servers.data === undefined || !projects.isFetched) return undefined
  const found = projects.data ?? []
  return {
    hasProjects: projects.data !== undefined,
    hasServer: servers.data.length > 0,
    hasTarget: found.some(({ hasPlatformJson, serverId }) => serverId !== null || hasPlatformJson)
  }
}

const key = "berth-first-steps"

/** Remembers, until the window is closed, that the overview is wanted all the same. */
export const useSkipped = () => {
  const [skipped, setSkipped] = useState(() => sessionStorage.getItem(key) !== null)
  return {
    skipped,
    skip: () => {
      sessionStorage.setItem(key, "skipped")
      setSkipped(true)
    }
  }
}
