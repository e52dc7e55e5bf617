import { Effect, type ParseResult, Schema } from "effect"
import { ContainerName, LogLines, LogsFailed, LogsQueryInvalid, LogsTargetMissing } from "../../schema/Container.ts"
import { errorInWords } from "../../schema/inWords.ts"
import { normalRemotePath, RemotePath } from "../../schema/RemotePath.ts"
import type { ServerNotFound } from "../../schema/Server.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { execute } from "../remote/execute.ts"
import { containerLogsCommand, logLimit, stackLogsCommand } from "../remote/logs.ts"
import { dockerHelp } from "./dockerHelp.ts"
import { serverOr } from "./serverOr.ts"

/** Whose logs, and how many of their last lines, as the caller wrote it. An empty text counts as absent. */
export interface LogsQuery {
  readonly containerName?: string | undefined
  readonly remotePath?: string | undefined
  readonly lines?: string | undefined
}

const digits = Schema.String.pipe(
  Schema.pattern(/^\d{1,9}$/, { message: () => "must be a whole number from 1 to 10000" }),
  Schema.compose(Schema.NumberFromString),
  Schema.compose(LogLines.annotations({ message: () => "must be a whole number from 1 to 10000" }))
)
const decodeQuery = Schema.decode(
  Schema.Struct({
    containerName: Schema.optional(ContainerName),
    remotePath: Schema.optional(RemotePath),
    lines: Schema.optionalWith(digits, { default: () => 100 })
  }),
  { errors: "all" }
)

const given = (text: string | undefined) => (text === undefined || text === "" ? undefined : text)

const invalid = (error: ParseResult.ParseError) =>
  new LogsQueryInvalid({ reason: errorInWords(error, { whole: "The query", part: "query parameter" }) })

const failed = (reason: string) => new LogsFailed({ reason })

/** The last lines, 100 when none are asked for, of a stack's log where `remotePath` is given, else of a container's. */
export const logs = Effect.fn("logs")(function*(
  serverId: string,
  query: LogsQuery
): Effect.fn.Return<string, LogsFailed | LogsQueryInvalid | ServerNotFound, Settings | Ssh> {
  const server = yield* serverOr(serverId, failed)
  const { containerName, lines, remotePath } = yield* decodeQuery({
    containerName: given(query.remotePath) === undefined ? given(query.containerName) : undefined,
    remotePath: given(query.remotePath),
    lines: given(query.lines)
  }).pipe(Effect.mapError(invalid))
  const command = remotePath !== undefined
    ? stackLogsCommand(normalRemotePath(remotePath), lines, server.useSudo)
    : containerName !== undefined
    ? containerLogsCommand(containerName, lines, server.useSudo)
    : yield* failed(new LogsTargetMissing().message)
  const { stdout, truncated = false } = yield* Effect.mapError(
    execute(server, command, { maxOutput: logLimit }),
    ({ message }) => failed(dockerHelp(message, server))
  )
  return yield* withoutSecrets(stdout, { cut: truncated })
})
