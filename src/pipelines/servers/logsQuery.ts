import { Effect, type ParseResult, Schema } from "effect"
import { ContainerName } from "../../schema/servers/Container.ts"
import {
  Contains,
  defaultLogLines,
  formatSinceArgument,
  LogLines,
  type LogSource,
  LogsQueryInvalid,
  LogsTargetMissing,
  mostLogLines,
  Since
} from "../../schema/servers/Logs.ts"
import { normalizeRemotePath, RemotePath } from "../../schema/servers/RemotePath.ts"
import { describeParseError } from "../../schema/words/describeIssues.ts"

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
export interface ResolvedLogsQuery {
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
export const resolveLogsQuery = Effect.fn("resolveLogsQuery")(function*(
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
