import { Effect, Schema } from "effect"
import { Berth } from "../../client/Berth.ts"
import { RunKind, RunState } from "../../schema/runs/Run.ts"
import { RunBrief, summarizeRun } from "../answers/runOutcome.ts"
import { defineTool } from "../answers/Tool.ts"

const mostListed = 50

const RunId = Schema.Struct({ id: Schema.NonEmptyString.annotations({ description: "The id of the run." }) })

const Listed = Schema.Struct({
  runs: Schema.Array(RunBrief.pick("id", "kind", "state", "subject", "requestedAt", "endedAt", "error")),
  next: Schema.NullOr(Schema.String)
})

export const listRuns = defineTool({
  name: "list_runs",
  title: "List runs",
  description: "Deploys, rollbacks, builds, pulls and upserts, the newest first. get_run tells one with its steps.",
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
