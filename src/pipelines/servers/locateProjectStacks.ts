import { Effect } from "effect"
import { ProjectUnknown, ProjectWithoutServer } from "../../schema/projects/Project.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { listDeployPlaces } from "../projects/inspectProject.ts"
import { listProjects } from "../projects/listProjects.ts"

/** Location of a project's stack. */
export interface ProjectStack {
  readonly project: string
  readonly serverId: string
  readonly remotePath: string
}

/** Locates the stacks of projects by name; a project without a server uses the only stored one. */
export const locateProjectStacks = Effect.fn("locateProjectStacks")(function*(names: ReadonlyArray<string>) {
  const projects = yield* listProjects()
  const [only, ...others] = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
  const found = yield* Effect.forEach(names, (name) =>
    Effect.gen(function*() {
      const found = projects.find((project) => project.name === name)
      if (found === undefined) return yield* new ProjectUnknown({ name, known: projects.map((each) => each.name) })
      const serverId = found.serverId ?? (others.length === 0 ? only?.id : undefined)
      if (serverId === undefined) return yield* new ProjectWithoutServer({ name })
      const places = listDeployPlaces({ ...found, serverId })
      return places.map((place): ProjectStack => ({ project: name, ...place }))
    }))
  return found.flat()
})
