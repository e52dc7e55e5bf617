import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Option, Schema, Stream } from "effect"
import { type LogEvent, LogLine, LogLinesDropped } from "../schema/Logs.ts"
import { type BerthError, errorIn, refused, unexpected } from "./BerthError.ts"
import type { RawEvent } from "./eventText.ts"
import { serverEvents } from "./serverEvents.ts"

/** Whose logs to follow: those of the stack in `remotePath`, or else of a container. */
export interface FollowedLogs {
  readonly remotePath?: string | undefined
  readonly containerName?: string | undefined
  /** How many of the last lines come first; 100 unless given. */
  readonly lines?: number | undefined
  /** No line from before it: a time, or how long ago (`10m`). */
  readonly since?: string | undefined
  /** One service of the stack; all of them unless given. */
  readonly service?: string | undefined
}

const decodeLine = Schema.decodeOption(Schema.parseJson(LogLine))
const decodeDropped = Schema.decodeOption(Schema.parseJson(LogLinesDropped))

const decodeEvent =
  (where: string) => ({ data, event }: RawEvent): Effect.Effect<ReadonlyArray<LogEvent>, BerthError> => {
    if (event === "error") return refused(502, Option.getOrElse(errorIn(data), () => "The logs ended"))
    const decoded = event === "line"
      ? Option.map(decodeLine(data), (data): LogEvent => ({ event, data }))
      : event === "dropped"
      ? Option.map(decodeDropped(data), (data): LogEvent => ({ event, data }))
      : undefined
    if (decoded === undefined) return Effect.succeed([])
    return Effect.mapBoth(decoded, {
      onSuccess: (event) => [event],
      onFailure: () => unexpected(where, `The log lines of ${where} cannot be read`)
    })
  }

const timeOf = (event: RawEvent | undefined) =>
  event?.event === "line"
    ? Option.getOrUndefined(Option.map(decodeLine(event.data), ({ time }) => time))
    : undefined

/** What a new connection tells again: the lines up to the last one of each source before it. */
const repeated = () => {
  const latest = new Map<string, string>()
  let before = new Map<string, string>()
  return {
    connect: () => {
      before = new Map(latest)
    },
    isNew: (event: LogEvent): boolean => {
      if (event.event !== "line") return true
      const { service, stream, time } = event.data
      const source = `${service} ${stream}`
      if (time <= (before.get(source) ?? "")) return false
      latest.set(source, time)
      return true
    }
  }
}

// After a break as many lines as the service gives: those that were told already are left out.
const mostLines = 10_000

/**
 * The log lines of a stack or a container as they come, without end. After a connection that breaks it goes on with the
 * lines since the last one.
 */
export const followedLogs = (
  client: HttpClient.HttpClient,
  where: string,
  serverId: string,
  { containerName, lines, remotePath, service, since }: FollowedLogs
): Stream.Stream<LogEvent, BerthError> =>
  Stream.suspend(() => {
    const { connect, isNew } = repeated()
    return serverEvents(client, where, {
      request: (last) => {
        connect()
        return HttpClientRequest.get(`/api/servers/${encodeURIComponent(serverId)}/logs/follow`).pipe(
          HttpClientRequest.setUrlParams({
            remotePath,
            containerName,
            service,
            lines: last === undefined ? lines : mostLines,
            since: timeOf(last) ?? since
          })
        )
      },
      isEnd: () => false,
      answeredBefore: false
    }).pipe(Stream.mapEffect(decodeEvent(where)), Stream.flattenIterables, Stream.filter(isNew))
  })
