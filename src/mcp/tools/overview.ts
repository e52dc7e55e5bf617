import { Effect, Schema, Struct } from "effect"
import { Berth } from "../../client/Berth.ts"
import { describeCare } from "../../schema/NeedsCare.ts"
import { ObservedApplication, ObservedProject, ObservedServer, ObservedStack, Overview } from "../../schema/Overview.ts"
import { LocalProject } from "../../schema/projects/Project.ts"
import { defineTool } from "../answers/Tool.ts"

const ofStack = ObservedStack.omit("containerNames", "containerStates", "failing", "observedAt")

/**
 * Overview in few tokens: needsCare names failing containers, unusable files and full disks in words, and get_run has the
 * rest of a run.
 */
const Brief = Schema.Struct({
  ...Overview.omit("needsCare").fields,
  servers: Schema.Array(ObservedServer.omit("disks", "load", "memory", "observedAt")),
  applications: Schema.Array(ObservedApplication.omit("observedAt")),
  needsCare: Schema.Array(Schema.String),
  projects: Schema.Array(Schema.Struct({
    ...ObservedProject.omit("run", "servers", "lastRun", "problems", "error", "observedAt").fields,
    servers: Schema.Array(ofStack),
    run: Schema.NullOr(Schema.Struct({ id: Schema.String, kind: Schema.String, state: Schema.String }))
  }))
})

export const overview = defineTool({
  name: "overview",
  title: "Overview",
  description: "Everything that needs care; projects, applications and servers with their state. Begin here.",
  readOnly: true,
  input: Schema.Struct({}),
  output: Brief,
  call: () =>
    Effect.gen(function*() {
      const berth = yield* Berth
      const { applications, needsCare, projects, servers, ...seen } = yield* berth.use((api) => api.overview({}))
      return {
        ...seen,
        servers: servers.map(Struct.omit("disks", "load", "memory", "observedAt")),
        applications: applications.map(Struct.omit("observedAt")),
        needsCare: needsCare.map((care) =>
          `${describeCare(care)}${care.runId === undefined ? "" : ` (run ${care.runId})`}`
        ),
        projects: projects.map(({ run, servers, ...project }) => ({
          ...Struct.omit(project, "lastRun", "problems", "error", "observedAt"),
          servers: servers.map(Struct.omit("containerNames", "containerStates", "failing", "observedAt")),
          run: run === null ? null : { id: run.id, kind: run.kind, state: run.state }
        }))
      }
    })
})

export const listProjects = defineTool({
  name: "list_projects",
  title: "List projects",
  description: "The deployable projects of this machine, with the server and remote path that plan_deploy needs.",
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
