import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Schema, Stream } from "effect"
import { Run, StepProgress } from "../schema/runs/Run.ts"
import { LogLinesDropped } from "../schema/servers/Logs.ts"
import { type BerthError, makeUnexpectedAnswer } from "./BerthError.ts"
import type { RawEvent } from "./eventText.ts"
import { streamServerEvents } from "./streamServerEvents.ts"

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
const decodeEvent = (where: string) => ({ data, event, id = "" }: RawEvent) =>
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
  }).pipe(Stream.mapEffect(decodeEvent(where)), Stream.flattenIterables)
