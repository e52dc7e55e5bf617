import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Option, Schema, Stream } from "effect"
import { type LogEvent, LogLine, LogLinesDropped, LogUnavailable } from "../schema/servers/Logs.ts"
import { type BerthError, makeRefusal, makeUnexpectedAnswer, readErrorMessage } from "./BerthError.ts"
import type { RawEvent } from "./eventText.ts"
import { streamServerEvents } from "./streamServerEvents.ts"

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
