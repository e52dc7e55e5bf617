import { Duration, Effect, Either, Option, Schedule, Schema, Stream } from "effect"
import { Run, type RunAhead, type RunEvent, type RunsQuery, type RunStep } from "../schema/runs.ts"
import { findServer } from "../schema/servers.ts"
import { maskUnknownKeys, RawEntry } from "../schema/upsert.ts"
import { mask } from "../schema/words.ts"
import { CurrentCaller, maySeeValues } from "../services/access/Caller.ts"
import { maskArguments } from "../services/masking.ts"
import { Runs } from "../services/runs/Runs.ts"
import { Settings } from "../services/settings/Settings.ts"

/** Server id as recorded in runs. A server that is no longer stored is looked up by the requested id. */
const idOf = (idOrName: string) =>
  Effect.gen(function*() {
    const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
    return yield* Either.match(findServer(stored, idOrName), {
      onLeft: (error) => error._tag === "ServerAmbiguous" ? Effect.fail(error) : Effect.succeed(idOrName),
      onRight: ({ id }) => Effect.succeed(id)
    })
  })

const maskSubject = <A extends Pick<RunAhead, "subject">>(run: A): A =>
  run.subject.command === undefined
    ? run
    : { ...run, subject: { ...run.subject, command: maskArguments(run.subject.command) } }

/** The detail of an exec's step repeats its command line. */
const maskStep = (step: RunStep): RunStep => ({ ...step, detail: mask })

const upserted = Schema.Struct({ changelogEntry: Schema.Struct({ configSnapshot: RawEntry }) })
const decodeUpserted = Schema.decodeUnknownOption(upserted, { onExcessProperty: "preserve" })

/** The result of an upsert repeats the entry of `platform.json`. */
const maskResult = ({ kind, result }: Run): unknown =>
  Option.match(kind === "upsert" ? decodeUpserted(result) : Option.none(), {
    onNone: () => result,
    onSome: ({ changelogEntry, ...rest }) => ({
      ...rest,
      changelogEntry: { ...changelogEntry, configSnapshot: maskUnknownKeys(changelogEntry.configSnapshot) }
    })
  })

/** A run for viewers: without the arguments of its command, and without values of an entry's unknown keys. */
const maskRun = (run: Run): Run => ({
  ...maskSubject(run),
  result: maskResult(run),
  ...run.waitsFor === undefined ? {} : { waitsFor: maskSubject(run.waitsFor) },
  ...run.kind === "exec" ? { steps: run.steps.map(maskStep) } : {}
})

const json = Schema.parseJson(Run)

const decodeRun = Schema.decodeOption(json)

const encodeRun = Schema.encodeOption(json)

/** An event with a whole run; none if that cannot be read. */
const maskRunEvent = (event: RunEvent): ReadonlyArray<RunEvent> =>
  Option.toArray(Option.map(
    Option.flatMap(decodeRun(event.data), (run) => encodeRun(maskRun(run))),
    (data): RunEvent => ({ ...event, data })
  ))

/** True when the current caller may see the values of a run: command lines may have credentials as arguments. */
const seesValues = Effect.map(CurrentCaller, ({ role }) => maySeeValues(role))

/** Lists the runs that match a query, newest first; a server may be given by id or name. */
export const listRuns = Effect.fn("listRuns")(function*({ serverId, ...query }: RunsQuery) {
  const runs = yield* Runs
  const page = yield* runs.list(serverId === undefined ? query : { ...query, serverId: yield* idOf(serverId) })
  return (yield* seesValues) ? page : { ...page, runs: page.runs.map(maskRun) }
})

/** Run with this id; see `maskRun` for viewers. */
export const getRun = Effect.fn("getRun")(function*(id: string) {
  const run = yield* (yield* Runs).get(id)
  return (yield* seesValues) ? run : maskRun(run)
})

/** Events of a run after the one with the id `after`; see `maskRun` for viewers. */
export const watchRun = Effect.fn("watchRun")(function*(id: string, after: Option.Option<number>) {
  const events = yield* (yield* Runs).events(id, after)
  return (yield* seesValues)
    ? events
    : Stream.mapConcat(
      events,
      (event) => event.event === "run" || event.event === "end" ? maskRunEvent(event) : [event]
    )
})

// Most starts have nothing to recover.
const loadResume = Effect.promise(() => import("./resumeRun.ts"))

/**
 * Recovers the runs that an earlier process left unfinished. Resumes an upsert at its unfinished step, and reads the
 * outcome of a deploy, a rollback or a stack action from the server. Records other runs as interrupted.
 */
export const recoverRuns = Effect.flatMap(
  Runs,
  ({ recover }) =>
    recover((unowned, resume) =>
      Effect.flatMap(loadResume, ({ resumeRun }) => resumeRun(unowned, resume)).pipe(
        Effect.catchTag("NoSuchElementException", () => Effect.succeed(false))
      )
    )
).pipe(Effect.withSpan("recoverRuns"))

const lookPause = Duration.seconds(1)

const settingsPause = Duration.seconds(2)

/**
 * Recovers unfinished runs as soon as the store is available: once, or continuously if several processes share their
 * runs, since any of them may end.
 */
export const keepRecoveringRuns = Effect.gen(function*() {
  const { isShared } = yield* Runs
  yield* Effect.repeat(recoverRuns, { until: (isDone) => isDone, schedule: Schedule.spaced(settingsPause) })
  const shared = yield* Effect.orDie(Effect.retry(isShared, Schedule.spaced(settingsPause)))
  // A failure with one run must not stop the recovery of the others.
  const again = Effect.catchAllDefect(recoverRuns, (defect) => Effect.logError("Runs could not be recovered", defect))
  if (shared) yield* Effect.repeat(again, Schedule.spaced(lookPause))
})

/** Recovers unfinished runs continuously if the settings name a shared store; otherwise does nothing. */
export const keepRecoveringSharedRuns = Effect.gen(function*() {
  const url = yield* Effect.option((yield* Settings).find("state.url"))
  if (Option.isSome(Option.flatten(url))) yield* keepRecoveringRuns
})
