import { HttpServerResponse } from "@effect/platform"
import { Schedule, Stream } from "effect"

/** One server-sent event; `data` is JSON. Who comes back names the `id` of the last one it got, where events have one. */
export interface ServerEvent {
  readonly id?: number
  readonly event: string
  readonly data: string
}

const written = ({ data, event, id }: ServerEvent) =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`

// Proxies and browsers give a silent connection up, and that a caller is gone shows when something is written to it.
const signsOfLife = Stream.as(Stream.fromSchedule(Schedule.spaced("15 seconds")), ": nothing new\n\n")

/** An answer of server-sent events, which goes on until they end or whoever reads them leaves. */
export const eventStream = <E>(events: Stream.Stream<ServerEvent, E>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    Stream.encodeText(Stream.merge(Stream.map(events, written), signsOfLife, { haltStrategy: "left" })),
    { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } }
  )
