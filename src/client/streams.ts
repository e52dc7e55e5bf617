import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Duration, Effect, Option, Ref, Schedule, Schema, Stream } from "effect"
import { type LogEvent, LogLine, LogLinesDropped, LogUnavailable } from "../schema/logs.ts"
import { Run, StepProgress } from "../schema/runs.ts"
import {
  type BerthError,
  makeRefusal,
  makeUnexpectedAnswer,
  makeUnreachable,
  readErrorMessage,
  readRefusal,
  toBerthError
} from "./BerthError.ts"

/** Server-sent event as received; `data` is JSON. */
export interface RawEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

const eventOf = (block: string): RawEvent | undefined => {
  const data: Array<string> = []
  let event = "message"
  let id: string | undefined
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":")
    if (colon < 1) continue
    const name = line.slice(0, colon)
    const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (name === "data") data.push(value)
    else if (name === "event") event = value
    else if (name === "id") id = value
  }
  return data.length === 0 ? undefined : { event, id, data: data.join("\n") }
}

/**
 * Creates an incremental parser of server-sent events: each call returns the events completed so far. Runs in linear
 * time: the parser of @effect/experimental takes a minute for a log of fifty thousand lines.
 */
export const makeEventReader = (): (text: string) => ReadonlyArray<RawEvent> => {
  let rest = ""
  return (text) => {
    // Only new text can complete an event, and the separator may arrive in two pieces.
    const from = Math.max(0, rest.length - 3)
    const all = rest + text
    if (!/\r?\n\r?\n/.test(all.slice(from))) {
      rest = all
      return []
    }
    const blocks = all.split(/\r?\n\r?\n/)
    rest = blocks.pop() ?? ""
    return blocks.flatMap((block) => eventOf(block.replaceAll("\r\n", "\n")) ?? [])
  }
}

/** Event stream that can be resumed after a broken connection. */
interface EventSource {
  /** Request for the events after the last one received; `undefined` before the first. */
  readonly request: (last: RawEvent | undefined) => HttpClientRequest.HttpClientRequest
  /** True if this event is the last. */
  readonly isEnd: (event: RawEvent) => boolean
  /** True if the service answered a moment ago: then even the first connection is retried. */
  readonly answeredBefore: boolean
}

// Retries for up to a minute: a restart of the service does not end its runs.
const pauses = Schedule.exponential("250 millis", 2).pipe(
  Schedule.union(Schedule.spaced("5 seconds")),
  Schedule.upTo(Duration.seconds(60))
)

/** Parses events from text that arrives in pieces. */
const eventsIn = <E>(text: Stream.Stream<string, E>): Stream.Stream<RawEvent, E> =>
  Stream.suspend(() => Stream.mapConcat(text, makeEventReader()))

/**
 * Streams the events of a source. Reconnects after a broken connection and resumes after the last event; refusals are
 * not retried.
 * @param where display name of the service, usually its address
 */
const streamServerEvents = (
  client: HttpClient.HttpClient,
  where: string,
  { answeredBefore, isEnd, request }: EventSource
): Stream.Stream<RawEvent, BerthError> =>
  Stream.unwrap(Effect.gen(function*() {
    const last = yield* Ref.make<RawEvent | undefined>(undefined)
    const connection = Effect.gen(function*() {
      const asked = HttpClientRequest.setHeader(request(yield* Ref.get(last)), "accept", "text/event-stream")
      const response = yield* Effect.mapError(client.execute(asked), toBerthError(where))
      if (response.status >= 400) return yield* readRefusal(where, response)
      return response.stream.pipe(
        Stream.mapError((error) => makeUnreachable(where, error)),
        Stream.decodeText(),
        eventsIn,
        Stream.tap((event) => Ref.set(last, event)),
        // A stopping service ends its streams as if they were complete.
        Stream.concat(Stream.fail(makeUnreachable(where, "the connection broke")))
      )
    })
    const isWorthAnother = ({ reason }: BerthError) =>
      Effect.map(Ref.get(last), (heard) => reason === "unreachable" && (answeredBefore || heard !== undefined))
    return Stream.unwrap(connection).pipe(
      Stream.retry(Schedule.whileInputEffect(pauses, isWorthAnother)),
      Stream.takeUntil(isEnd)
    )
  }))

/** Filter of log lines. */
export interface FollowedLines {
  /** Number of most recent lines to start with; default 100. */
  readonly lines?: number | undefined
  /** Omits earlier lines: a time, or an age like `10m`. */
  readonly since?: string | undefined
  /** Omits later lines and ends the log there. */
  readonly until?: string | undefined
  /** Service of the stack; all services by default. */
  readonly service?: string | undefined
  /** Text that lines must contain, ignoring case. */
  readonly contains?: string | undefined
}

/** Source of the logs: the stack in `remotePath`, or a container. */
export interface FollowedLogs extends FollowedLines {
  readonly remotePath?: string | undefined
  readonly containerName?: string | undefined
}

/** Source of the logs of several projects, by their names under the projects root. */
export interface FollowedProjects extends FollowedLines {
  readonly projects: ReadonlyArray<string>
}

const decoders = {
  line: Schema.decodeOption(Schema.parseJson(LogLine)),
  dropped: Schema.decodeOption(Schema.parseJson(LogLinesDropped)),
  unavailable: Schema.decodeOption(Schema.parseJson(LogUnavailable))
}

const decoded = ({ data, event }: RawEvent): Option.Option<LogEvent> | undefined => {
  switch (event) {
    case "line":
      return Option.map(decoders.line(data), (data) => ({ event, data }))
    case "dropped":
      return Option.map(decoders.dropped(data), (data) => ({ event, data }))
    case "unavailable":
      return Option.map(decoders.unavailable(data), (data) => ({ event, data }))
    case "end":
      return Option.some({ event, data: {} })
  }
  return undefined
}

const decodeEvent = (where: string) => (raw: RawEvent): Effect.Effect<ReadonlyArray<LogEvent>, BerthError> => {
  if (raw.event === "error") {
    return makeRefusal(
      502,
      Option.getOrElse(readErrorMessage(raw.data), () => "The logs ended")
    )
  }
  const event = decoded(raw)
  if (event === undefined) return Effect.succeed([])
  return Effect.mapBoth(event, {
    onSuccess: (event) => [event],
    onFailure: () => makeUnexpectedAnswer(where, `The log lines of ${where} cannot be read`)
  })
}

/** Drops lines that a new connection repeats: those up to the last one received from each source. */
const repeated = () => {
  const latest = new Map<string, string>()
  const lastOfProjects = new Map<string, string>()
  let before = new Map<string, string>()
  return {
    connect: () => {
      before = new Map(latest)
    },
    /** Time from which lines may be missing: that of the last line of the project that has been silent longest. */
    since: (): string | undefined => [...lastOfProjects.values()].toSorted()[0],
    isNew: (event: LogEvent): boolean => {
      if (event.event !== "line") return true
      const { project = "", service, stream, time } = event.data
      const source = `${project} ${service} ${stream}`
      if (time <= (before.get(source) ?? "")) return false
      latest.set(source, time)
      lastOfProjects.set(project, time)
      return true
    }
  }
}

// Requests as many lines as the service returns after a reconnect; `repeated` drops those already emitted.
const mostLines = 10_000

const followEvents = (
  client: HttpClient.HttpClient,
  where: string,
  path: string,
  { lines, since, ...rest }: FollowedLines & {
    readonly [name: string]: string | number | ReadonlyArray<string> | undefined
  }
): Stream.Stream<LogEvent, BerthError> =>
  Stream.suspend(() => {
    const { connect, isNew, since: brokenAt } = repeated()
    return streamServerEvents(client, where, {
      request: (last) => {
        connect()
        return HttpClientRequest.get(path).pipe(
          HttpClientRequest.setUrlParams({
            ...rest,
            lines: last === undefined ? lines : mostLines,
            since: last === undefined ? since : brokenAt() ?? since
          })
        )
      },
      isEnd: ({ event }) => event === "end",
      answeredBefore: false
    }).pipe(Stream.mapEffect(decodeEvent(where)), Stream.flattenIterables, Stream.filter(isNew))
  })

/**
 * Log lines of a stack or a container as they arrive; endless unless `until` is given. Reconnects after a broken
 * connection and resumes after the last line.
 */
export const followLogs = (
  client: HttpClient.HttpClient,
  where: string,
  serverId: string,
  { containerName, contains, lines, remotePath, service, since, until }: FollowedLogs
): Stream.Stream<LogEvent, BerthError> =>
  followEvents(client, where, `/api/servers/${encodeURIComponent(serverId)}/logs/follow`, {
    remotePath,
    containerName,
    service,
    until,
    contains,
    lines,
    since
  })

/** Log lines of several projects as they arrive, each with its project; endless unless `until` is given. */
export const followProjectLogs = (
  client: HttpClient.HttpClient,
  where: string,
  { contains, lines, projects, service, since, until }: FollowedProjects
): Stream.Stream<LogEvent, BerthError> =>
  followEvents(client, where, "/api/logs/follow", { project: projects, service, until, contains, lines, since })

/** Event of a run. A watcher that reconnects sends the `id` of its last one to get those after it. */
export const RunEvent = Schema.Union(
  Schema.Struct({ id: Schema.String, event: Schema.Literal("run", "end"), data: Run }),
  Schema.Struct({
    id: Schema.String,
    event: Schema.Literal("progress"),
    data: Schema.Struct({ step: Schema.String, ...StepProgress.fields })
  }),
  Schema.Struct({
    id: Schema.String,
    event: Schema.Literal("output"),
    data: Schema.Struct({ stream: Schema.Literal("stdout", "stderr"), text: Schema.String })
  }),
  Schema.Struct({ id: Schema.String, event: Schema.Literal("dropped"), data: LogLinesDropped })
)
export type RunEvent = typeof RunEvent.Type

const known: ReadonlySet<string> = new Set(["run", "end", "progress", "output", "dropped"])
const parse = Schema.decodeUnknown(Schema.parseJson(Schema.Unknown))
const decode = Schema.decodeUnknown(RunEvent)

/** Decodes an event; skips kinds unknown to this version. */
const decodeRunEvent = (where: string) => ({ data, event, id = "" }: RawEvent) =>
  known.has(event)
    ? parse(data).pipe(
      Effect.flatMap((data) => decode({ id, event, data })),
      Effect.map((event) => [event]),
      Effect.mapError(() => makeUnexpectedAnswer(where, `The events of a run at ${where} cannot be read`))
    )
    : Effect.succeed([])

/**
 * Events of a run up to its end: all of them, or those after the event `after`. Reconnects after a broken connection
 * without losing an event.
 */
export const runEvents = (
  client: HttpClient.HttpClient,
  where: string,
  id: string,
  { after, justStarted = false }: { readonly after?: string | undefined; readonly justStarted?: boolean } = {}
): Stream.Stream<RunEvent, BerthError> =>
  streamServerEvents(client, where, {
    request: (last) => {
      const from = last?.id ?? after
      const watch = HttpClientRequest.get(`/api/runs/${encodeURIComponent(id)}/events`)
      return from === undefined ? watch : HttpClientRequest.setHeader(watch, "last-event-id", from)
    },
    isEnd: ({ event }) => event === "end",
    answeredBefore: justStarted
  }).pipe(Stream.mapEffect(decodeRunEvent(where)), Stream.flattenIterables)
