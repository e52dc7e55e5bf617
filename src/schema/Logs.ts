import { Schema } from "effect"
import { cut, quoted } from "./quoted.ts"

/** Whose log is meant: a container's, or that of all containers of the stack in a directory of the server. */
export type LogSource =
  | { readonly kind: "container"; readonly name: string }
  | { readonly kind: "stack"; readonly remotePath: string }

/** That a log's container, stack or service is not there, as the rest of a sentence. */
export const noSource = (source: LogSource, server: string, service = ""): string =>
  `there is no ${service === "" ? "" : `service ${quoted(service)} of the `}${
    source.kind === "stack" ? `stack at ${cut(source.remotePath)}` : `container named ${cut(source.name)}`
  }` +
  ` on "${server}": scan lists what is deployed there`

/** There is no such container, or no stack in that directory. */
export class NothingToFollow extends Schema.TaggedError<NothingToFollow>()("NothingToFollow", {
  /** What is missing where, as `noSource` says it. */
  reason: Schema.String
}) {
  readonly status = 404
  override get message() {
    return `${this.reason.slice(0, 1).toUpperCase()}${this.reason.slice(1)}`
  }
}

/** One line that a container wrote, as it comes. */
export const LogLine = Schema.Struct({
  time: Schema.String.annotations({
    description: "When the line was written, by the server's clock.",
    examples: ["2026-01-02T03:04:05.678901234Z"]
  }),
  service: Schema.String.annotations({
    description: "The service of the compose file; the container's name where it has none.",
    examples: ["web"]
  }),
  stream: Schema.Literal("stdout", "stderr").annotations({
    description: "Which of its two streams it was written to."
  }),
  text: Schema.String.annotations({ description: "The line, cut at 8,000 characters.", examples: ["GET / 200"] })
}).annotations({ identifier: "LogLine" })
export interface LogLine extends Schema.Schema.Type<typeof LogLine> {}

/** Lines that a slow reader did not get, since they came faster than it read. */
export const LogLinesDropped = Schema.Struct({
  lines: Schema.Int.annotations({ description: "How many lines were left out here." })
}).annotations({ identifier: "LogLinesDropped" })
export interface LogLinesDropped extends Schema.Schema.Type<typeof LogLinesDropped> {}

/** What a followed log consists of. */
export type LogEvent =
  | { readonly event: "line"; readonly data: LogLine }
  | { readonly event: "dropped"; readonly data: LogLinesDropped }

const ago = /^(\d{1,9})([smhd])$/
const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/

/** From when on logs are wanted: a time, or how long ago. */
export const Since = Schema.String.pipe(
  Schema.filter((text) => ago.test(text) || (time.test(text) && Number.isFinite(Date.parse(text))), {
    message: () => "must be a time like 2026-01-02T03:04:05Z, or how long ago: 30s, 10m, 2h or 1d"
  })
)

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/**
 * A point in time as the scripts on a server take it: a time in UTC, or `-` and how many seconds ago by the server's
 * own clock. Empty for no such point.
 */
export const sinceArgument = (since: string | undefined): string => {
  const [, number = "", unit = ""] = ago.exec(since ?? "") ?? []
  const seconds = secondsIn[unit]
  if (seconds !== undefined) return `-${Number(number) * seconds}`
  return since === undefined ? "" : new Date(since).toISOString()
}
