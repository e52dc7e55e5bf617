import { Clock, Effect, Option, Schema, type Scope } from "effect"
import { readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { isEnded, type Run } from "../../../schema/runs/Run.ts"
import { readPrivateFile } from "../../local/readPrivateFile.ts"
import { isProcess } from "./isProcess.ts"

/** Note of the process that holds a store. */
const HolderFields = Schema.Struct({
  pid: Schema.Int.pipe(Schema.positive()),
  /** Descriptions of the runs that it executes: `deploy of hello`. */
  runs: Schema.Array(Schema.String),
  /** Time since it holds the store, as an ISO text. */
  since: Schema.optional(Schema.String),
  /** Address of a service, by which commands find it if its own record is missing. */
  service: Schema.optional(Schema.Struct({ address: Schema.String, token: Schema.String }))
})
type HolderFields = typeof HolderFields.Type
const Holder = Schema.parseJson(HolderFields)

const besides = (file: string) => `${file}.holder`
const longestNote = 100_000
const mostShown = 3

const named = ({ kind, subject }: Run): string => {
  const place = subject.appName ?? subject.projectPath ?? subject.remotePath
  return place === undefined ? kind : `${kind} of ${place.split(/[/\\]/).at(-1) ?? place}`
}

const describeRuns = (runs: ReadonlyArray<string>) =>
  runs.length > mostShown ? [...runs.slice(0, mostShown), `${runs.length - mostShown} more`] : runs

/** Note of the living process that holds a store. */
const readNote = (file: string) =>
  Effect.tryPromise(() => readFile(besides(file), "utf8")).pipe(
    Effect.filterOrFail((text) => text.length <= longestNote),
    Effect.flatMap((text) => Schema.decode(Holder)(text)),
    Effect.filterOrFail(({ pid }) => isProcess(pid)),
    Effect.option
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

const wordsOf = ({ pid, runs }: HolderFields) => [...describeRuns(runs), `process ${pid}`].join(", ")

/** Describes the holder of a store: `deploy of hello, process 4711`; none if it is unknown. */
export const describeStoreHolder = (file: string): Effect.Effect<Option.Option<string>> =>
  Effect.map(readNote(file), Option.map(wordsOf))

/** A process that holds a store. */
export interface StoreHolder {
  /** `deploy of hello, process 4711` */
  readonly name: string
  /** Time of day, local, since it holds the store: `12:03:04`; none if it does not say. */
  readonly since: Option.Option<string>
  /** Origin of its address if it is a service. */
  readonly address: Option.Option<string>
}

const timeOfDay = (iso: string) => {
  const time = new Date(iso)
  return Number.isNaN(time.getTime()) ? Option.none() : Option.some(time.toTimeString().slice(0, 8))
}

/** Finds the living process that holds a store. */
export const findStoreHolder = (file: string): Effect.Effect<Option.Option<StoreHolder>> =>
  Effect.map(
    readNote(file),
    Option.map((note) => ({
      name: wordsOf(note),
      since: Option.flatMap(Option.fromNullable(note.since), timeOfDay),
      address: Option.map(Option.fromNullable(note.service), ({ address }) => address)
    }))
  )

const longestRecord = 100_000

/** Service that holds a store, with the token that authorizes the reader of its private note. */
export const findHoldingService = (file: string) =>
  readPrivateFile(besides(file), longestRecord).pipe(
    Effect.flatMap((text) => Schema.decode(Holder)(text)),
    Effect.map(({ pid, service }) => service === undefined ? Option.none() : Option.some({ ...service, pid })),
    Effect.orElseSucceed(() => Option.none())
  )

/** Addresses of the services in this process, and the writers of notes beside their settings, by directory. */
const announced = new Map<string, Required<HolderFields>["service"]>()
const writers = new Map<string, Set<Effect.Effect<void>>>()

const rewriteNotes = (directory: string) =>
  Effect.suspend(() => Effect.forEach(writers.get(directory) ?? [], (write) => write, { discard: true }))

/** Adds the address of this service to the note of a store that it holds beside its settings, until the scope closes. */
export const announceService = (
  directory: string,
  service: { readonly address: string; readonly token: string }
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.zipRight(
      Effect.sync(() => announced.has(directory) ? announced : announced.set(directory, service)),
      rewriteNotes(directory)
    ),
    () => Effect.sync(() => announced.get(directory) === service ? announced.delete(directory) : false)
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
    const directory = dirname(file)
    const since = new Date(yield* Clock.currentTimeMillis).toISOString()
    const write = Effect.ignore(Effect.tryPromise(async () => {
      const part = `${besides(file)}.tmp`
      // Avoids writing through a link.
      await rm(part, { force: true })
      const service = announced.get(directory)
      const note: HolderFields = {
        pid: process.pid,
        runs: [...runs.values()],
        since,
        ...service === undefined ? {} : { service }
      }
      await writeFile(part, JSON.stringify(note), { mode: 0o600, flag: "wx" })
      await rename(part, besides(file))
    })).pipe(turn.withPermits(1))
    yield* holdHere(file)
    yield* Effect.acquireRelease(
      Effect.sync(() => writers.set(directory, new Set([...writers.get(directory) ?? [], write]))),
      () => Effect.sync(() => writers.get(directory)?.delete(write))
    )
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
