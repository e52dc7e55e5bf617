import { Schema } from "effect"
import { cut, quoteInput } from "./words.ts"

/** Most lines of a log that a caller may request. */
export const mostLogLines = 10_000

/** Number of lines if the caller requests none. */
export const defaultLogLines = 100

/** Number of log lines that a caller may request. */
export const LogLines = Schema.Int.pipe(Schema.between(1, mostLogLines))

/** A logs request that names neither a container nor a stack. */
export class LogsTargetMissing extends Schema.TaggedError<LogsTargetMissing>()("LogsTargetMissing", {}) {
  readonly status = 500
  override get message() {
    return "containerName or remotePath required"
  }
}

/** A field of a logs request is invalid. */
export class LogsQueryInvalid extends Schema.TaggedError<LogsQueryInvalid>()("LogsQueryInvalid", {
  reason: Schema.String
}) {
  readonly status = 400
  override get message() {
    return this.reason
  }
}

/** The logs of a container or stack could not be read. */
export class LogsFailed extends Schema.TaggedError<LogsFailed>()("LogsFailed", { reason: Schema.String }) {
  readonly status = 500
  override get message() {
    return `Failed to get logs: ${this.reason}`
  }
}

/** Source of a log: one container, or all containers of the stack in a directory of the server. */
export type LogSource =
  | { readonly kind: "container"; readonly name: string }
  | { readonly kind: "stack"; readonly remotePath: string }

/** Describes the missing container, stack or service of a log, as the predicate of a sentence. */
export const describeMissingSource = (source: LogSource, server: string, service = ""): string =>
  `there is no ${service === "" ? "" : `service ${quoteInput(service)} of the `}${
    source.kind === "stack" ? `stack at ${cut(source.remotePath)}` : `container named ${cut(source.name)}`
  }` +
  ` on "${server}": a scan of the server lists what is deployed there`

/** The container, or a stack in that directory, does not exist. */
export class NothingToFollow extends Schema.TaggedError<NothingToFollow>()("NothingToFollow", {
  /** Reason, worded by `noSource`. */
  reason: Schema.String
}) {
  readonly status = 404
  override get message() {
    return `${this.reason.slice(0, 1).toUpperCase()}${this.reason.slice(1)}`
  }
}

const project = Schema.optionalWith(Schema.String, { exact: true }).annotations({
  description: "The name of the project; absent where one log is followed."
})

/** Line of a container's log, sent as it is written. */
export const LogLine = Schema.Struct({
  project,
  time: Schema.String.annotations({
    description: "When the line was written, by the server's clock.",
    examples: ["2026-01-02T03:04:05.678901234Z"]
  }),
  service: Schema.String.annotations({
    description:
      "The service of the compose file, with the number of its container where it has several (web-2); the container's name where it has none.",
    examples: ["web"]
  }),
  stream: Schema.Literal("stdout", "stderr").annotations({
    description: "Stream that it was written to."
  }),
  text: Schema.String.annotations({ description: "The line, cut at 8,000 characters.", examples: ["GET / 200"] })
}).annotations({ identifier: "LogLine" })
export interface LogLine extends Schema.Schema.Type<typeof LogLine> {}

/** Number of lines that were dropped because the reader was too slow. */
export const LogLinesDropped = Schema.Struct({
  project,
  lines: Schema.Int.annotations({ description: "Number of lines left out here." })
}).annotations({ identifier: "LogLinesDropped" })
export interface LogLinesDropped extends Schema.Schema.Type<typeof LogLinesDropped> {}

/** Project whose log cannot be followed, or no longer; the other logs continue. */
export const LogUnavailable = Schema.Struct({
  project: Schema.String.annotations({ description: "The name of the project." }),
  error: Schema.String.annotations({ description: "Reason." })
}).annotations({ identifier: "LogUnavailable" })
export interface LogUnavailable extends Schema.Schema.Type<typeof LogUnavailable> {}

/** Events of a followed log. */
export type LogEvent =
  | { readonly event: "line"; readonly data: LogLine }
  | { readonly event: "dropped"; readonly data: LogLinesDropped }
  | { readonly event: "unavailable"; readonly data: LogUnavailable }
  | { readonly event: "end"; readonly data: Readonly<Record<string, never>> }

/** Creates a test if a line contains a text, ignoring the case of A to Z. */
export const makeLineFilter = (contains: string) => {
  const lower = (text: string) => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const wanted = lower(contains)
  return (text: string): boolean => wanted === "" || lower(text).includes(wanted)
}

const ago = /^(\d{1,9})([smhd])$/
const time = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/

/** Text that log lines must contain. */
export const Contains = Schema.String.pipe(
  Schema.filter((text) => text.length <= 200 && !/[\u0000-\u001f\u007f]/.test(text), {
    message: () => "must have at most 200 characters, without control characters"
  })
)

/** Time limit of logs: a time, or an age. */
export const Since = Schema.String.pipe(
  Schema.filter((text) => ago.test(text) || (time.test(text) && Number.isFinite(Date.parse(text))), {
    message: () => "must be a time like 2026-01-02T03:04:05Z, or how long ago: 30s, 10m, 2h or 1d"
  })
)

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/**
 * Converts a time limit for the scripts on a server: a UTC time, or `-` and an age in seconds by the server's own
 * clock. Empty without a limit.
 */
export const formatSinceArgument = (since: string | undefined): string => {
  const [, number = "", unit = ""] = ago.exec(since ?? "") ?? []
  const seconds = secondsIn[unit]
  if (seconds !== undefined) return `-${Number(number) * seconds}`
  return since === undefined ? "" : new Date(since).toISOString()
}
