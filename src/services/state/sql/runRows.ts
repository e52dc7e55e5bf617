import { Array, Option, Schema } from "effect"
import { Run, type RunEvent, RunState } from "../../../schema/runs/Run.ts"
import type { StepResult } from "../../runs/RunOwnership.ts"
import type { StoredRun } from "../../runs/StoredRun.ts"

/** Columns of a row that decodes as a run. */
const RunColumns = { state: RunState, data: Schema.parseJson(Run) }
const JsonText = Schema.parseJson(Schema.Unknown)

// Claims change only the column `state`.
const withState = ({ data, state }: { readonly data: Run; readonly state: RunState }): Run => ({ ...data, state })

/** Decodes rows; skips those that another version of Berth wrote in a different form. */
const decodeRows = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (rows: ReadonlyArray<unknown>): ReadonlyArray<A> => Array.filterMap(rows, (row) => decode(row))
}

const decodeRunRows = decodeRows(Schema.Struct(RunColumns))
export const decodeRuns = (rows: ReadonlyArray<unknown>): ReadonlyArray<Run> => decodeRunRows(rows).map(withState)

const decodeHeadRows = decodeRows(Schema.Struct({ ...RunColumns, queue: Schema.String }))
export const decodeQueueHeads = (rows: ReadonlyArray<unknown>): ReadonlyMap<string, Run> =>
  new Map(decodeHeadRows(rows).map((row) => [row.queue, withState(row)]))

const decodeKeyedRows = decodeRows(Schema.Struct({ ...RunColumns, digest: Schema.String }))
export const decodeKeyedRuns = (rows: ReadonlyArray<unknown>) =>
  decodeKeyedRows(rows).map((row) => ({ run: withState(row), digest: row.digest }))

const decodeStoredRows = decodeRows(Schema.Struct({
  ...RunColumns,
  request: JsonText,
  workflow: Schema.String,
  queue: Schema.String,
  attempt: Schema.Number
}))
/** Decodes unfinished runs, without their idempotency keys. */
export const decodeStoredRuns = (rows: ReadonlyArray<unknown>): ReadonlyArray<StoredRun> =>
  decodeStoredRows(rows).map(({ attempt, data, queue, request, state, workflow }) => ({
    run: withState({ data, state }),
    request,
    workflow,
    queue,
    attempt,
    idempotency: Option.none()
  }))

const decodeStepRows = decodeRows(Schema.Struct({ step: Schema.String, result: Schema.NullOr(JsonText) }))
export const decodeStepResults = (rows: ReadonlyArray<unknown>): ReadonlyArray<StepResult> =>
  decodeStepRows(rows).map(({ result, step }) => ({ step, result: Option.fromNullable(result) }))

const EventRow: Schema.Schema<RunEvent> = Schema.Struct({
  id: Schema.Number,
  event: Schema.Literal("run", "progress", "output", "dropped", "end"),
  data: Schema.String
})
export const decodeEvents = decodeRows(EventRow)
