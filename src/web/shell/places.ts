import type { LocalProject } from "../../schema/projects/Project.ts"
import { buildApplicationHref } from "../applications/buildApplicationHref.ts"
import { buildProjectHref } from "../projects/projectHref.ts"
import { isReady } from "../projects/state/usePlan.ts"
import { useOverview, useProjects, useServers } from "../service/queries.ts"
import { screens } from "./screens.ts"

/** Choice of the palette: a place, or a verb with its project. */
export interface PaletteChoice {
  readonly name: string
  readonly kind: string
  readonly href: string
  /** Project to deploy after a confirmation, instead of opening `href`. */
  readonly deploys?: LocalProject
}

const mostShown = 40

/** Ranks prefix matches before substring matches, and places before verbs. */
export const rankPlaces = (places: ReadonlyArray<PaletteChoice>, words: string): ReadonlyArray<PaletteChoice> => {
  const wanted = words.trim().toLowerCase().replaceAll(/\s+/g, " ")
  const begins = ({ name }: PaletteChoice) => name.toLowerCase().startsWith(wanted)
  const holding = places.filter(({ name }) => name.toLowerCase().includes(wanted))
  return [...holding.filter(begins), ...holding.filter((place) => !begins(place))].slice(0, mostShown)
}

const verbsFor = (project: LocalProject): ReadonlyArray<PaletteChoice> =>
  !isReady(project) ? [] : [
    { name: `deploy ${project.name}`, kind: "action", href: buildProjectHref(project.name), deploys: project },
    { name: `logs ${project.name}`, kind: "action", href: `${buildProjectHref(project.name)}#log` },
    { name: `changes ${project.name}`, kind: "action", href: buildProjectHref(project.name, "changes") },
    { name: `roll back ${project.name}`, kind: "action", href: buildProjectHref(project.name, "runs") }
  ]

/** Screens, projects, applications and servers, and the actions on projects. */
export const usePlaces = (): ReadonlyArray<PaletteChoice> => {
  const projects = useProjects().data ?? []
  const servers = useServers().data ?? []
  const overview = useOverview().data
  return [
    ...screens.map(([name, href]) => ({ name, kind: "screen", href })),
    ...projects.map(({ name }) => ({ name, kind: "project", href: buildProjectHref(name) })),
    ...overview?.applications.map((application) => ({
      name: application.name,
      kind: "application",
      href: buildApplicationHref(application, overview.projects)
    })) ?? [],
    ...servers.map(({ id, name }) => ({ name, kind: "server", href: `/servers/${encodeURIComponent(id)}` })),
    ...projects.flatMap(verbsFor)
  ]
}
