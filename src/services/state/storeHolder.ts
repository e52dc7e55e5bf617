import { Effect, Option, Schema } from "effect"
import type { Scope } from "effect"
import { readFile, rename, rm, writeFile } from "node:fs/promises"
import { isEnded, type Run } from "../../schema/Run.ts"
import { isProcess } from "./isProcess.ts"

/** What the process that has a store of runs does with it. */
const Holder = Schema.parseJson(Schema.Struct({
  pid: Schema.Int.pipe(Schema.positive()),
  /** The runs that it carries out, in words: `deploy of hello`. */
  runs: Schema.Array(Schema.String)
}))

const besides = (file: string) => `${file}.holder`
const longestNote = 100_000
const mostShown = 3

const named = ({ kind, subject }: Run): string => {
  const place = subject.appName ?? subject.projectPath ?? subject.remotePath
  return place === undefined ? kind : `${kind} of ${place.split(/[/\\]/).at(-1) ?? place}`
}

const shown = (runs: ReadonlyArray<string>) =>
  runs.length > mostShown ? [...runs.slice(0, mostShown), `${runs.length - mostShown} more`] : runs

/** Who has a store of runs, in words: `deploy of hello, process 4711`; nothing where that is not known. */
export const holderOf = (file: string): Effect.Effect<Option.Option<string>> =>
  Effect.tryPromise(() => readFile(besides(file), "utf8")).pipe(
    Effect.filterOrFail((text) => text.length <= longestNote),
    Effect.flatMap((text) => Schema.decode(Holder)(text)),
    Effect.map(({ pid, runs }) =>
      isProcess(pid) ? Option.some([...shown(runs), `process ${pid}`].join(", ")) : Option.none()
    ),
    Effect.orElseSucceed(() => Option.none())
  )

/** Tells whom else asks for the store what this process does with it. */
export interface HolderNote {
  /** Notes what a run has come to. */
  readonly changed: (run: Run) => Effect.Effect<void>
}

/** Leaves word that this process has the store of a file, until the scope closes. No failure of this matters. */
export const noteHolder = (file: string): Effect.Effect<HolderNote, never, Scope.Scope> =>
  Effect.gen(function*() {
    const runs = new Map<string, string>()
    const turn = yield* Effect.makeSemaphore(1)
    const write = Effect.ignore(Effect.tryPromise(async () => {
      const part = `${besides(file)}.tmp`
      // A link in its place is not followed.
      await rm(part, { force: true })
      await writeFile(part, JSON.stringify({ pid: process.pid, runs: [...runs.values()] }), { mode: 0o600, flag: "wx" })
      await rename(part, besides(file))
    })).pipe(turn.withPermits(1))
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
