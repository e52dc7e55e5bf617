import type { Path } from "@effect/platform"
import { Deferred, Effect, Either, Fiber, Option, Order, type Scope, Stream } from "effect"
import { type LogEvent, type LogLine, LogsQueryInvalid } from "../../schema/servers/Logs.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { bufferLatestLines } from "./bufferLatestLines.ts"
import { makeEndEvent, toLineEvents } from "./followLogs.ts"
import { locateProjectStacks, type ProjectStack } from "./locateProjectStacks.ts"
import type { LogsQuery, ResolvedLogsQuery } from "./logsQuery.ts"
import { openLog } from "./openLog.ts"
import { takeUntilTime } from "./takeUntilTime.ts"

/** Maximum number of projects to follow at once. */
export const mostProjects = 10

const noProjects = new LogsQueryInvalid({ reason: `project must be given from 1 to ${mostProjects} times` })

type LogsFailure = Effect.Effect.Error<ReturnType<typeof openLog>>

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

/** Longest wait for a project whose server does not answer; its lines are added later. */
const headStart = "3 seconds"

/** A followed log: its last lines, then new ones. */
interface Begun {
  readonly past: ReadonlyArray<LogLine>
  readonly live: Stream.Stream<LogEvent>
}

/** Opens the log of a project and reads its last lines; `opened` completes before these are read. */
const begin = (
  { project, remotePath, serverId }: ProjectStack,
  query: Omit<LogsQuery, "containerName" | "remotePath">,
  opened: Deferred.Deferred<ResolvedLogsQuery>
) =>
  Effect.gen(function*() {
    const { read, wanted } = yield* openLog(serverId, { ...query, remotePath })
    yield* Deferred.succeed(opened, wanted)
    const { live, past } = yield* read
    return {
      past: past.map((line) => ({ ...line, project })),
      live: bufferLatestLines(takeUntilTime(live, wanted)).pipe(
        Stream.map(withProject(project)),
        Stream.concat(wanted.until === "" ? Stream.make(unavailable(project, { message: closed })) : Stream.empty),
        Stream.catchAll((error) => Stream.make(unavailable(project, error)))
      )
    } satisfies Begun
  })

/** Lines of a project whose log was opened after the others. */
const late = (project: string, begun: Effect.Effect<Either.Either<Begun, LogsFailure>>) =>
  Stream.unwrap(Effect.map(
    begun,
    Either.match({
      onLeft: (error) => Stream.make(unavailable(project, error)),
      onRight: ({ live, past }) => Stream.concat(toLineEvents(past), live)
    })
  ))

/**
 * Follows the logs of several projects, each line with its project. Reports a project that cannot be followed and
 * continues with the others; fails only if all of them fail. A project on a slow server joins later.
 * @param query as for one log; applies to each project
 */
export const followProjects = Effect.fn("followProjects")(function*(
  names: ReadonlyArray<string>,
  query: Omit<LogsQuery, "containerName" | "remotePath">
): Effect.fn.Return<
  Stream.Stream<LogEvent>,
  LogsFailure | Effect.Effect.Error<ReturnType<typeof locateProjectStacks>>,
  Settings | Ssh | Scope.Scope | LocalFiles | Path.Path
> {
  const wanted = [...new Set(names)]
  if (wanted.length > mostProjects) return yield* noProjects
  const opened = yield* Deferred.make<ResolvedLogsQuery>()
  const logs = yield* Effect.forEach(yield* locateProjectStacks(wanted), (stack) =>
    Effect.map(
      Effect.forkScoped(Effect.either(begin(stack, query, opened))),
      (fiber) => ({ fiber, project: stack.project })
    ))
  yield* Effect.raceFirst(
    Effect.asVoid(Fiber.awaitAll(logs.map(({ fiber }) => fiber))),
    Effect.zipRight(Deferred.await(opened), Effect.sleep(headStart))
  )
  const polled = yield* Effect.forEach(
    logs,
    ({ fiber, project }) => Effect.map(Fiber.poll(fiber), (exit) => ({ exit, fiber, project }))
  )
  const ended = yield* Effect.forEach(
    polled.filter(({ exit }) => Option.isSome(exit)),
    ({ fiber, project }) => Effect.map(Fiber.join(fiber), (begun) => ({ begun, project }))
  )
  const pending = polled.filter(({ exit }) => Option.isNone(exit))
  const begun = ended.flatMap(({ begun }) => Either.isRight(begun) ? [begun.right] : [])
  const refused = ended.flatMap(({ begun, project }) => Either.isLeft(begun) ? [{ project, error: begun.left }] : [])
  if (begun.length + pending.length === 0) return yield* Effect.fail(refused[0]?.error ?? noProjects)
  const live = [
    ...begun.map(({ live }) => live),
    ...pending.map(({ fiber, project }) => late(project, Fiber.join(fiber)))
  ]
  return Stream.fromIterable(refused.map(({ error, project }) => unavailable(project, error))).pipe(
    Stream.concat(toLineEvents(begun.flatMap(({ past }) => past).toSorted(byTime))),
    Stream.concat(Stream.mergeAll(live, { concurrency: "unbounded" })),
    Stream.concat(makeEndEvent(yield* Deferred.await(opened)))
  )
})
