import { Effect, Option, Schema, type Scope } from "effect"
import { readFile, rename, rm, writeFile } from "node:fs/promises"
import { isEnded, type Run } from "../../../schema/runs/Run.ts"
import { isProcess } from "../discovery/isProcess.ts"

/** Note of the process that holds a store. */
const Holder = Schema.parseJson(Schema.Struct({
  pid: Schema.Int.pipe(Schema.positive()),
  /** Descriptions of the runs that it executes: `deploy of hello`. */
  runs: Schema.Array(Schema.String)
}))

const besides = (file: string) => `${file}.holder`
const longestNote = 100_000
const mostShown = 3

const named = ({ kind, subject }: Run): string => {
  const place = subject.appName ?? subject.projectPath ?? subject.remotePath
  return place === undefined ? kind : `${kind} of ${place.split(/[/\\]/).at(-1) ?? place}`
}

const describeRuns = (runs: ReadonlyArray<string>) =>
  runs.length > mostShown ? [...runs.slice(0, mostShown), `${runs.length - mostShown} more`] : runs

const readNote = (file: string) =>
  Effect.tryPromise(() => readFile(besides(file), "utf8")).pipe(
    Effect.filterOrFail((text) => text.length <= longestNote),
    Effect.flatMap((text) => Schema.decode(Holder)(text))
  )

/** Number of times that this process holds each store, by its file. */
const heldHere = new Map<string, number>()

const holdHere = (file: string) =>
  Effect.acquireRelease(
    Effect.sync(() => heldHere.set(file, (heldHere.get(file) ?? 0) + 1)),
    () =>
      Effect.sync(() => {
        const left = (heldHere.get(file) ?? 0) - 1
        if (left > 0) heldHere.set(file, left)
        else heldHere.delete(file)
      })
  )

/** True while this process holds a store. */
export const isHeldHere = (file: string): Effect.Effect<boolean> => Effect.sync(() => heldHere.has(file))

/** Describes the holder of a store: `deploy of hello, process 4711`; none if it is unknown. */
export const describeStoreHolder = (file: string): Effect.Effect<Option.Option<string>> =>
  readNote(file).pipe(
    Effect.map(({ pid, runs }) =>
      isProcess(pid) ? Option.some([...describeRuns(runs), `process ${pid}`].join(", ")) : Option.none()
    ),
    Effect.orElseSucceed(() => Option.none())
  )

/** Note of this process, for others that wait for the store. */
export interface HolderNote {
  /** Updates the note with the state of a run. */
  readonly changed: (run: Run) => Effect.Effect<void>
}

/** Writes a note beside the file of a store until the scope closes. Failures are ignored. */
export const noteHolder = (file: string): Effect.Effect<HolderNote, never, Scope.Scope> =>
  Effect.gen(function*() {
    const runs = new Map<string, string>()
    const turn = yield* Effect.makeSemaphore(1)
    const write = Effect.ignore(Effect.tryPromise(async () => {
      const part = `${besides(file)}.tmp`
      // Avoids writing through a link.
      await rm(part, { force: true })
      await writeFile(part, JSON.stringify({ pid: process.pid, runs: [...runs.values()] }), { mode: 0o600, flag: "wx" })
      await rename(part, besides(file))
    })).pipe(turn.withPermits(1))
    yield* holdHere(file)
    yield* Effect.acquireRelease(write, () => Effect.promise(() => rm(besides(file), { force: true })))
    return {
      changed: (run) =>
        Effect.suspend(() => {
          if (isEnded(run.state) ? !runs.delete(run.id) : runs.has(run.id)) return Effect.void
          if (!isEnded(run.state)) runs.set(run.id, named(run))
          return write
        })
    }
  })
