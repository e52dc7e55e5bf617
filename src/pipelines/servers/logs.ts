import type { Path } from "@effect/platform"
import {
  Chunk,
  Clock,
  Deferred,
  Effect,
  Either,
  Fiber,
  Mailbox,
  Option,
  Order,
  type ParseResult,
  Schema,
  type Scope,
  Sink,
  Stream
} from "effect"
import {
  containerLogsCommand,
  followLogsCommand,
  isNoStack,
  liveMark,
  logLimit,
  longestLogLine,
  parseLogLine,
  stackLogsCommand
} from "../../remote/logs.ts"
import {
  Contains,
  defaultLogLines,
  describeMissingSource,
  formatSinceArgument,
  type LogEvent,
  type LogLine,
  LogLines,
  LogsFailed,
  type LogSource,
  LogsQueryInvalid,
  LogsTargetMissing,
  makeLineFilter,
  mostLogLines,
  NothingToFollow,
  Since
} from "../../schema/logs.ts"
import { normalizeRemotePath, RemotePath, type ServerUnresolved } from "../../schema/servers.ts"
import type { TooManyFollowers } from "../../schema/ssh.ts"
import { ContainerName } from "../../schema/stacks.ts"
import { describeParseError } from "../../schema/validation.ts"
import { keepLastBytes, splitBoundedLines } from "../../services/bytes.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { scrubText } from "../../services/masking.ts"
import { scrubSecrets, secretsInUse, Settings } from "../../services/settings/Settings.ts"
import { execute, Ssh } from "../../services/ssh/Ssh.ts"
import { locateProjectStacks, type ProjectStack } from "../projects/places.ts"
import { describeDockerRefusal, findServerOrFail } from "./servers.ts"

/** A logs request as sent by the caller. An empty string counts as absent. */
export interface LogsQuery {
  readonly containerName?: string | undefined
  readonly remotePath?: string | undefined
  readonly lines?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly contains?: string | undefined
  readonly timestamps?: string | undefined
  readonly service?: string | undefined
}

/** A decoded logs request. */
interface ResolvedLogsQuery {
  readonly source: LogSource
  readonly lines: number
  /** In the format of the server scripts: empty, a time in UTC, or `-` with the age in seconds. */
  readonly since: string
  /** In the form of `since`. */
  readonly until: string
  /** Text that the lines must contain; empty for all lines. */
  readonly contains: string
  readonly timestamps: boolean
  /** Service of the stack; empty for all services. */
  readonly service: string
}

const outOfRange = `must be a whole number from 1 to ${mostLogLines}`
const digits = Schema.String.pipe(
  Schema.pattern(/^\d{1,9}$/, { message: () => outOfRange }),
  Schema.compose(Schema.NumberFromString),
  Schema.compose(LogLines.annotations({ message: () => outOfRange }))
)
const ServiceName = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/, {
    message: () => "must be the name of a service of the compose file"
  })
)
const yesOrNo = Schema.BooleanFromString.annotations({ message: () => "must be true or false" })
const decode = Schema.decodeUnknown(
  Schema.Struct({
    containerName: Schema.optional(ContainerName),
    remotePath: Schema.optional(RemotePath),
    lines: Schema.optionalWith(digits, { default: () => defaultLogLines }),
    since: Schema.optional(Since),
    until: Schema.optional(Since),
    contains: Schema.optionalWith(Contains, { default: () => "" }),
    timestamps: Schema.optionalWith(yesOrNo, { default: () => false }),
    service: Schema.optional(ServiceName)
  }),
  { errors: "all" }
)

const given = (text: string | undefined) => (text === undefined || text === "" ? undefined : text)

const invalid = (error: ParseResult.ParseError) =>
  new LogsQueryInvalid({ reason: describeParseError(error, { whole: "The request", part: "option" }) })

/** Decodes a logs request: 100 lines by default; the stack if it names both a stack and a container. */
const resolveLogsQuery = Effect.fn("resolveLogsQuery")(function*(
  query: LogsQuery
): Effect.fn.Return<ResolvedLogsQuery, LogsQueryInvalid | LogsTargetMissing> {
  const { containerName, contains, lines, remotePath, service = "", since, timestamps, until } = yield* decode({
    containerName: given(query.remotePath) === undefined ? given(query.containerName) : undefined,
    remotePath: given(query.remotePath),
    lines: given(query.lines),
    since: given(query.since),
    until: given(query.until),
    contains: given(query.contains),
    timestamps: given(query.timestamps),
    service: given(query.service)
  }).pipe(Effect.mapError(invalid))
  const source: LogSource | undefined = remotePath !== undefined
    ? { kind: "stack", remotePath: normalizeRemotePath(remotePath) }
    : containerName !== undefined
    ? { kind: "container", name: containerName }
    : undefined
  if (service !== "" && source?.kind === "container") {
    return yield* new LogsQueryInvalid({ reason: "service belongs to remotePath: a container is one service already" })
  }
  return source === undefined
    ? yield* new LogsTargetMissing()
    : {
      source,
      lines,
      since: formatSinceArgument(since),
      until: formatSinceArgument(until),
      contains,
      timestamps,
      service
    }
})

const failed = (reason: string) => new LogsFailed({ reason })

/**
 * Keeps the last lines whose text contains the requested one. The server's own filter is wider, as it also matches
 * service names and redacted secrets.
 */
const onlyContaining = (logs: string, { contains, lines, source, timestamps }: ResolvedLogsQuery): string => {
  if (contains === "") return logs
  const fits = makeLineFilter(contains)
  const textOf = (line: string) => {
    const text = source.kind === "stack" ? line.replace(/^[^|]*\| ?/, "") : line
    return timestamps ? text.replace(/^\S+ ?/, "") : text
  }
  const kept = logs.replace(/\n$/, "").split("\n").filter((line) => fits(textOf(line))).slice(-lines)
  return kept.map((line) => `${line}\n`).join("")
}

/** Returns the last lines, 100 by default, of the log of the stack at `remotePath`, or of a container. */
export const logs = Effect.fn("logs")(function*(
  serverId: string,
  query: LogsQuery
): Effect.fn.Return<string, LogsFailed | LogsQueryInvalid | ServerUnresolved, Settings | Ssh> {
  const server = yield* findServerOrFail(serverId, failed)
  const wanted = yield* Effect.catchTag(
    resolveLogsQuery(query),
    "LogsTargetMissing",
    ({ message }) => failed(message)
  )
  const { lines, source, ...options } = wanted
  const command = source.kind === "stack"
    ? stackLogsCommand(source.remotePath, lines, server.useSudo, options)
    : containerLogsCommand(source.name, lines, server.useSudo, options)
  const { stdout, truncated = false } = yield* Effect.mapError(
    execute(server, command, { keepLast: logLimit }),
    (error) =>
      failed(
        source.kind === "stack" && error._tag === "RemoteCommandFailed" && isNoStack(error)
          ? describeMissingSource(source, server.name)
          : describeDockerRefusal(error.message, server)
      )
  )
  return onlyContaining(yield* scrubSecrets(stdout, { cut: truncated }), wanted)
})

/** Most lines buffered for a slow reader. */
const mostWaiting = 1_000
/** Maximum lines in one chunk, because a chunk that waits for a slow reader gets outdated. */
const mostTogether = 64

const someOf = <A, E>(waiting: Mailbox.ReadonlyMailbox<A, E>) =>
  Effect.flatMap(
    waiting.size,
    (size) => waiting.takeN(Math.min(Math.max(Option.getOrElse(size, () => 0), 1), mostTogether))
  )

/** Drains a mailbox in small chunks until it is done. */
const fewByFew = <A, E>(waiting: Mailbox.ReadonlyMailbox<A, E>): Stream.Stream<A, E> =>
  Stream.paginateChunkEffect(
    undefined,
    () => Effect.map(someOf(waiting), ([messages, done]) => [messages, done ? Option.none() : Option.some(undefined)])
  )

/**
 * Buffers lines for a slow reader. When the buffer is full, the oldest lines are dropped and replaced by their number,
 * which bounds memory and keeps lines recent.
 */
export const bufferLatestLines = <E, R>(lines: Stream.Stream<LogLine, E, R>): Stream.Stream<LogEvent, E, R> =>
  Stream.zipWithIndex(lines).pipe(
    (numbered) => Mailbox.fromStream(numbered, { capacity: mostWaiting, strategy: "sliding" }),
    Effect.map(fewByFew),
    Stream.unwrapScoped,
    Stream.mapAccum(0, (expected, [data, index]): readonly [number, ReadonlyArray<LogEvent>] => {
      const line: LogEvent = { event: "line", data }
      const missed = index - expected
      return [index + 1, missed > 0 ? [{ event: "dropped", data: { lines: missed } }, line] : [line]]
    }),
    Stream.mapConcat((events) => events)
  )

/** Longest line passed on, in characters. */
const longestText = 8_000

/** Collects lines up to the mark, within the limits. */
const lastLines = () => {
  // The server may send more lines than were requested.
  let count = 0
  let length = 0
  return Sink.collectAllWhile((text: string) =>
    text !== liveMark && (count += 1) <= mostLogLines && (length += text.length) <= logLimit
  )
}

const followFailed = (reason: string) => new LogsFailed({ reason })

/** Redacts secrets in lines, and drops lines without the requested text. */
const readable = <E>(lines: Stream.Stream<LogLine, E>, contains: string): Stream.Stream<LogLine, E, Settings> => {
  const fits = makeLineFilter(contains)
  return Stream.mapChunksEffect(lines, (chunk) =>
    Effect.map(secretsInUse, (secrets) =>
      chunk.pipe(
        Chunk.map((line) => ({ ...line, text: scrubText(line.text, secrets).slice(0, longestText) })),
        Chunk.filter(({ text }) => fits(text))
      )))
}

/**
 * Opens the log of the stack at `remotePath`, including containers that it starts later, or of a container, running or
 * not. The remote command ends when the scope closes.
 */
const openLog = Effect.fn("openLog")(function*(
  serverId: string,
  query: LogsQuery
) {
  const settings = yield* Settings
  const server = yield* findServerOrFail(serverId, followFailed)
  const wanted = yield* Effect.catchTag(
    resolveLogsQuery(query),
    "LogsTargetMissing",
    ({ message }) => followFailed(message)
  )
  const orRefused = ({ message }: { readonly message: string }) => followFailed(describeDockerRefusal(message, server))
  const process = yield* Effect.mapError(
    (yield* Ssh).spawn(server, followLogsCommand(wanted.source, wanted, server.useSudo)),
    (error) => error._tag === "TooManyFollowers" ? error : orRefused(error)
  )
  const said = keepLastBytes(4 * 1024)
  const quiet = yield* process.stderr.pipe(
    Stream.runForEach((chunk) => Effect.sync(() => said.add(chunk))),
    Effect.ignore,
    Effect.forkScoped
  )
  const lines = process.stdout.pipe(splitBoundedLines(longestLogLine), Stream.mapError(orRefused))
  const [begun, rest] = yield* Stream.peel(lines, Sink.head<string>()).pipe(
    Effect.timeoutFail({
      duration: "60 seconds",
      onTimeout: () => followFailed(`"${server.name}" does not answer`)
    })
  )
  if (Option.contains(begun, "none")) {
    return yield* new NothingToFollow({ reason: describeMissingSource(wanted.source, server.name, wanted.service) })
  }
  if (!Option.contains(begun, "following")) {
    yield* quiet
    return yield* followFailed(describeDockerRefusal(yield* scrubSecrets(said.text().trim()), server))
  }
  const parsed = <E>(texts: Stream.Stream<string, E>) =>
    Stream.provideService(readable(Stream.filterMap(texts, parseLogLine), wanted.contains), Settings, settings)
  const read = Effect.gen(function*() {
    const [texts, further] = yield* Stream.peel(rest, lastLines()).pipe(
      Effect.timeoutFail({
        duration: "2 minutes",
        onTimeout: () =>
          followFailed(`reading the log on "${server.name}" takes longer than 2 minutes: limit it by since`)
      })
    )
    const past = yield* Stream.runCollect(parsed(Stream.fromChunk(texts)))
    return { past: Chunk.toReadonlyArray(past).slice(-wanted.lines), live: parsed(further) }
  })
  return { wanted, read }
})

/** Grace period for lines that arrive late, in milliseconds. */
const grace = 2_000

/**
 * Limits further lines to those up to `until`. If `until` is past, the server sends none and ends by itself. A later
 * line does not end the stream, because earlier lines of another container may follow it.
 */
export const takeUntilTime = <E, R>(
  live: Stream.Stream<LogLine, E, R>,
  { until }: Pick<ResolvedLogsQuery, "until">
): Stream.Stream<LogLine, E, R> => {
  if (until === "" || until.startsWith("-")) return live
  const end = Date.parse(until)
  const passed = Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => Effect.sleep(Math.max(0, end - now) + grace)
  )
  return live.pipe(
    Stream.filter(({ time }) => !(Date.parse(time) > end)),
    Stream.interruptWhen(passed)
  )
}

/** Events for lines that have been read. */
const toLineEvents = (lines: ReadonlyArray<LogLine>): Stream.Stream<LogEvent> =>
  Stream.fromIterable(lines.map((data): LogEvent => ({ event: "line", data })))

/** The last event of a log that has an end. */
const makeEndEvent = ({ until }: Pick<ResolvedLogsQuery, "until">): Stream.Stream<LogEvent> =>
  until === "" ? Stream.empty : Stream.succeed<LogEvent>({ event: "end", data: {} })

/**
 * Follows a log, starting with its last lines: of the stack at `remotePath`, including containers that it starts later,
 * else of a container. Never ends without `until`. The remote command ends when the scope closes. A slow reader gets
 * the number of dropped lines.
 */
export const followLogs = Effect.fn("followLogs")(function*(
  serverId: string,
  query: LogsQuery
): Effect.fn.Return<
  Stream.Stream<LogEvent, LogsFailed>,
  LogsFailed | LogsQueryInvalid | NothingToFollow | ServerUnresolved | TooManyFollowers,
  Settings | Ssh | Scope.Scope
> {
  const { read, wanted } = yield* openLog(serverId, query)
  return Stream.unwrapScoped(
    Effect.map(
      read,
      ({ live, past }) => Stream.concat(toLineEvents(past), bufferLatestLines(takeUntilTime(live, wanted)))
    )
  ).pipe(Stream.concat(makeEndEvent(wanted)))
})

/** Maximum number of projects to follow at once. */
const mostProjects = 10

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
