import { Effect, Schema, Struct } from "effect"
import { Berth } from "../../client/Berth.ts"
import {
  describeCare,
  ObservedApplication,
  ObservedProject,
  ObservedServer,
  ObservedStack,
  Overview
} from "../../schema/overview.ts"
import { LocalProject } from "../../schema/projects.ts"
import { RunKind, RunState } from "../../schema/runs.ts"
import { ProgramsRequest, ProjectPrograms } from "../../schema/trust.ts"
import { defineTool, RunBrief, summarizeRun } from "../answers.ts"

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
  // Without its literals, which every session would pay for.
  firstStep: Schema.optionalWith(Schema.Unknown, { exact: true }),
  projects: Schema.Array(Schema.Struct({
    ...ObservedProject.omit("run", "servers", "lastRun", "problems", "error", "observedAt").fields,
    servers: Schema.Array(ofStack),
    run: Schema.NullOr(Schema.Struct({ id: Schema.String, kind: Schema.String, state: Schema.String }))
  }))
})

export const overview = defineTool({
  name: "overview",
  title: "Overview",
  description: "Projects, applications and servers with their state, and what needs care. Begin here.",
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
  output: Schema.Struct({
    projects: Schema.Array(Schema.Struct({
      ...LocalProject.omit("environment", "environments", "problems").fields,
      // Without their schemas, which every session would pay for.
      environments: Schema.optionalWith(Schema.Unknown, { exact: true }),
      problems: Schema.optionalWith(Schema.Unknown, { exact: true })
    }))
  }),
  call: () =>
    Effect.gen(function*() {
      const berth = yield* Berth
      const projects = yield* berth.use((api) => api.listProjects({}))
      return { projects }
    })
})

export const showPrograms = defineTool({
  name: "show_programs",
  title: "Show a project's programs",
  description:
    "Programs and links of a project that are used on Berth's machine, and which of them its user trusts: only that user " +
    "can, with berth trust.",
  readOnly: true,
  input: Schema.Struct(ProgramsRequest.fields),
  output: ProjectPrograms,
  call: (payload) => Effect.flatMap(Berth, ({ use }) => use((api) => api.showPrograms({ payload })))
})

const mostListed = 50

const RunId = Schema.Struct({ id: Schema.NonEmptyString.annotations({ description: "The id of the run." }) })

const Listed = Schema.Struct({
  runs: Schema.Array(RunBrief.pick("id", "kind", "state", "subject", "requestedAt", "endedAt", "error")),
  next: Schema.NullOr(Schema.String)
})

export const listRuns = defineTool({
  name: "list_runs",
  title: "List runs",
  description: "Deploys, rollbacks, builds, pulls and upserts, newest first. get_run has the steps of one.",
  readOnly: true,
  input: Schema.Struct({
    kind: Schema.optional(RunKind),
    state: Schema.optional(RunState),
    limit: Schema.optional(Schema.Int.pipe(Schema.between(1, mostListed))).annotations({
      description: "Most runs to list; 10 unless given."
    }),
    before: Schema.optional(Schema.String).annotations({ description: "The `next` of the page before." })
  }),
  output: Listed,
  call: ({ limit = 10, ...query }) =>
    Effect.gen(function*() {
      const berth = yield* Berth
      const { next, runs } = yield* berth.use((api) => api.listRuns({ urlParams: { ...query, limit } }))
      return { runs: runs.map(summarizeRun), next }
    })
})

export const getRun = defineTool({
  name: "get_run",
  title: "Show a run",
  description: "The steps of a run, and its result or error. A run continues whether or not anybody asks.",
  readOnly: true,
  input: RunId,
  output: RunBrief,
  call: (path) => Effect.flatMap(Berth, ({ use }) => Effect.map(use((api) => api.getRun({ path })), summarizeRun))
})

export const cancelRun = defineTool({
  name: "cancel_run",
  title: "Cancel a run",
  description:
    "Stops a run at its next safe point; a deploy or rollback is undone, so that what ran before runs again. A " +
    "run that waits never starts; one that has ended cannot be cancelled.",
  readOnly: false,
  input: RunId,
  output: RunBrief,
  call: (path) => Effect.flatMap(Berth, ({ use }) => Effect.map(use((api) => api.cancelRun({ path })), summarizeRun))
})
