import type { Path } from "@effect/platform"
import { Effect, Either, Order, Stream } from "effect"
import type { Scope } from "effect"
import { LogsQueryInvalid } from "../../schema/servers/Container.ts"
import type { LogEvent, LogLine } from "../../schema/servers/Logs.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { endEvent, lineEvents } from "./followLogs.ts"
import { latestLines } from "./latestLines.ts"
import type { LogsQuery } from "./logsQuery.ts"
import { type OpenLog, openLog } from "./openLog.ts"
import { type ProjectStack, projectStacks } from "./projectStacks.ts"
import { untilThen } from "./untilThen.ts"

/** Most projects that are followed at once. */
export const mostProjects = 10

const noProjects = new LogsQueryInvalid({ reason: `project must be given from 1 to ${mostProjects} times` })

type OpenFailure = Effect.Effect.Error<ReturnType<typeof openLog>>

const unavailable = (project: string, { message }: { readonly message: string }): LogEvent => ({
  event: "unavailable",
  data: { project, error: message }
})

const byTime = Order.mapInput(Order.string, ({ time }: LogLine) => time)

const withProject = (project: string) => (event: LogEvent): LogEvent =>
  event.event === "line"
    ? { event: "line", data: { ...event.data, project } }
    : event.event === "dropped"
    ? { event: "dropped", data: { ...event.data, project } }
    : event

const closed = "the server ended the log: follow it again"

type Opened = OpenLog & { readonly project: string }

/** The last lines of all logs by their time, and then what each of them gets. */
const merged = (opened: ReadonlyArray<Opened>) =>
  Effect.gen(function*() {
    const begun = yield* Effect.forEach(
      opened,
      ({ project, read, wanted }) => Effect.map(Effect.either(read), (outcome) => ({ project, wanted, outcome })),
      { concurrency: "unbounded" }
    )
    const past = begun.flatMap(({ outcome, project }) =>
      Either.match(outcome, { onLeft: () => [], onRight: ({ past }) => past.map((line) => ({ ...line, project })) })
    )
    const live = begun.map(({ outcome, project, wanted }) =>
      Either.match(outcome, {
        onLeft: (error) => Stream.make(unavailable(project, error)),
        onRight: ({ live }) =>
          latestLines(untilThen(live, wanted)).pipe(
            Stream.map(withProject(project)),
            Stream.concat(wanted.until === "" ? Stream.make(unavailable(project, { message: closed })) : Stream.empty),
            Stream.catchAll((error) => Stream.make(unavailable(project, error)))
          )
      })
    )
    return Stream.concat(lineEvents(past.toSorted(byTime)), Stream.mergeAll(live, { concurrency: "unbounded" }))
  })

/**
 * The logs of several projects as they are written, each line with its project. One that cannot be followed is reported,
 * and the others go on; it fails when none can be.
 * @param query as for one log, for each of them
 */
export const followProjects = Effect.fn("followProjects")(function*(
  names: ReadonlyArray<string>,
  query: Omit<LogsQuery, "containerName" | "remotePath">
): Effect.fn.Return<
  Stream.Stream<LogEvent>,
  OpenFailure | Effect.Effect.Error<ReturnType<typeof projectStacks>>,
  Settings | Ssh | Scope.Scope | LocalFiles | Path.Path
> {
  const wanted = [...new Set(names)]
  if (wanted.length > mostProjects) return yield* noProjects
  const open = ({ project, remotePath, serverId }: ProjectStack) =>
    Effect.map(
      Effect.either(openLog(serverId, { ...query, remotePath })),
      Either.mapBoth({ onLeft: (error) => ({ project, error }), onRight: (log) => ({ ...log, project }) })
    )
  const outcomes = yield* Effect.forEach(yield* projectStacks(wanted), open, { concurrency: "unbounded" })
  const opened = outcomes.flatMap((each) => Either.isRight(each) ? [each.right] : [])
  const refused = outcomes.flatMap((each) => Either.isLeft(each) ? [each.left] : [])
  const [first] = opened
  if (first === undefined) return yield* Effect.fail(refused[0]?.error ?? noProjects)
  return Stream.fromIterable(refused.map(({ error, project }) => unavailable(project, error))).pipe(
    Stream.concat(Stream.unwrapScoped(merged(opened))),
    Stream.concat(endEvent(first.wanted))
  )
})
