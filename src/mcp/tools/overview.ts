import { Effect, Schema } from "effect"
import { Berth } from "../../client/Berth.ts"
import { ObservedProject, Overview } from "../../schema/Overview.ts"
import { LocalProject } from "../../schema/Project.ts"
import { tool } from "../Tool.ts"

/** Of a run that is under way an overview tells what it is and where; get_run tells the rest. */
const Brief = Schema.Struct({
  ...Overview.fields,
  projects: Schema.Array(Schema.Struct({
    ...ObservedProject.omit("run").fields,
    run: Schema.NullOr(Schema.Struct({ id: Schema.String, kind: Schema.String, state: Schema.String }))
  }))
})

export const overview = tool({
  name: "overview",
  title: "Overview",
  description:
    "Everything at one look: projects and the stacks they run as, applications of the platform and how many " +
    "fields have drifted, servers with their ids. Begin here.",
  readOnly: true,
  input: Schema.Struct({}),
  output: Brief,
  call: () =>
    Effect.gen(function*() {
      const berth = yield* Berth
      const { projects, ...seen } = yield* berth.use((api) => api.overview({}))
      return {
        ...seen,
        projects: projects.map(({ run, ...project }) => ({
          ...project,
          run: run === null ? null : { id: run.id, kind: run.kind, state: run.state }
        }))
      }
    })
})

export const listProjects = tool({
  name: "list_projects",
  title: "List projects",
  description:
    "The projects of this machine that can be deployed, with the server and remote path that they name. These " +
    "are what plan_deploy needs.",
  readOnly: true,
  input: Schema.Struct({}),
  output: Schema.Struct({ projects: Schema.Array(LocalProject) }),
  call: () =>
    Effect.gen(function*() {
      const berth = yield* Berth
      const projects = yield* berth.use((api) => api.listProjects({}))
      return { projects }
    })
})
