import type { LocalProject, ProjectTarget } from "./projects.ts"

/** A place that a project is deployed to, with the environment that it is. */
export interface DeployPlace extends ProjectTarget {
  readonly environment?: string
}

type PlacedProject = Pick<LocalProject, "environment" | "environments" | "remotePath" | "serverId" | "targets">

/** True if two places are the same, as they are written. */
const isSamePlace = (one: ProjectTarget, other: ProjectTarget): boolean =>
  one.serverId === other.serverId && one.remotePath === other.remotePath

/** Places that a project is deployed to, in their order: those of the file, then those of its environments. */
export const listDeployPlaces = (
  { environment, environments = [], remotePath, serverId, targets }: PlacedProject
): ReadonlyArray<DeployPlace> => {
  const named = environments.flatMap(({ name, targets }) =>
    targets.map((place): DeployPlace => ({ ...place, environment: name }))
  )
  const own = environment !== undefined
    ? []
    : targets ?? (serverId === null ? [] : [{ serverId, remotePath }])
  return [...own.filter((place) => !named.some((other) => isSamePlace(other, place))), ...named]
}

/** Narrows a project to one of its places, with the targets of the environment that it is. */
export const narrowToPlace = (project: LocalProject, place: DeployPlace): LocalProject => {
  const { environment, remotePath, serverId } = place
  if (environment === undefined) return { ...project, serverId, remotePath }
  const { targets: _, ...others } = project
  const among = project.environments?.find(({ name }) => name === environment)?.targets ?? []
  return { ...others, serverId, remotePath, environment, ...among.length > 1 ? { targets: among } : {} }
}

/** Name of the protected environment that a place of a project is; undefined for any other place. */
export const findProtectedEnvironment = (
  { environments = [] }: Pick<LocalProject, "environments">,
  place: ProjectTarget
): string | undefined =>
  environments.find((each) => each.protected === true && each.targets.some((target) => isSamePlace(target, place)))
    ?.name
