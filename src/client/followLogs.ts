import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Option, Schema, Stream } from "effect"
import { type LogEvent, LogLine, LogLinesDropped, LogUnavailable } from "../schema/servers/Logs.ts"
import { type BerthError, makeRefusal, makeUnexpectedAnswer, readErrorMessage } from "./BerthError.ts"
import type { RawEvent } from "./eventText.ts"
import { streamServerEvents } from "./streamServerEvents.ts"

/** Selection of the lines of a log. */
export interface FollowedLines {
  /** Number of last lines to begin with; default 100. */
  readonly lines?: number | undefined
  /** No line from before it: a time, or how long ago (`10m`). */
  readonly since?: string | undefined
  /** No line from after it; the log ends there. */
  readonly until?: string | undefined
  /** One service of the stack; all of them unless given. */
  readonly service?: string | undefined
  /** Only lines that contain it, in letters of either case. */
  readonly contains?: string | undefined
}

/** Source of the logs: the stack in `remotePath`, or a container. */
export interface FollowedLogs extends FollowedLines {
  readonly remotePath?: string | undefined
  readonly containerName?: string | undefined
}

/** The logs of several projects, by the names of those under the projects root. */
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

/** Filters the lines that a new connection repeats: up to the last line of each source before it. */
const repeated = () => {
  const latest = new Map<string, string>()
  const lastOfProjects = new Map<string, string>()
  let before = new Map<string, string>()
  return {
    connect: () => {
      before = new Map(latest)
    },
    /** Time from which on lines may be missing: the last line of the project that has been quiet for longest. */
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

// After a break as many lines as the service gives: those that were told already are left out.
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
 * The log lines of a stack or a container as they come, without end unless `until` is given. After a connection that
 * breaks it goes on with the lines since the last one.
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

/** The same of several projects, each line with its project. */
export const followProjectLogs = (
  client: HttpClient.HttpClient,
  where: string,
  { contains, lines, projects, service, since, until }: FollowedProjects
): Stream.Stream<LogEvent, BerthError> =>
  followEvents(client, where, "/api/logs/follow", { project: projects, service, until, contains, lines, since })
