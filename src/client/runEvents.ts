import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Schema, Stream } from "effect"
import { LogLinesDropped } from "../schema/Logs.ts"
import { Run, StepProgress } from "../schema/Run.ts"
import { type BerthError, unexpected } from "./BerthError.ts"
import type { RawEvent } from "./eventText.ts"
import { serverEvents } from "./serverEvents.ts"

/** One thing that happened in a run. `id` is what a watcher comes back with to hear what came after it. */
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

/** A kind of event that this version does not know is passed over. */
const decodeEvent = (where: string) => ({ data, event, id = "" }: RawEvent) =>
  known.has(event)
    ? parse(data).pipe(
      Effect.flatMap((data) => decode({ id, event, data })),
      Effect.map((event) => [event]),
      Effect.mapError(() => unexpected(where, `The events of a run at ${where} cannot be read`))
    )
    : Effect.succeed([])

/**
 * What happens in a run, up to its end: the whole run at first, or what came after the event `after`. A connection that
 * breaks is made again, and nothing is missed.
 */
export const runEvents = (
  client: HttpClient.HttpClient,
  where: string,
  id: string,
  { after, justStarted = false }: { readonly after?: string | undefined; readonly justStarted?: boolean } = {}
): Stream.Stream<RunEvent, BerthError> =>
  serverEvents(client, where, {
    request: (last) => {
      const from = last?.id ?? after
      const watch = HttpClientRequest.get(`/api/runs/${encodeURIComponent(id)}/events`)
      return from === undefined ? watch : HttpClientRequest.setHeader(watch, "last-event-id", from)
    },
    isEnd: ({ event }) => event === "end",
    answeredBefore: justStarted
  }).pipe(Stream.mapEffect(decodeEvent(where)), Stream.flattenIterables)
