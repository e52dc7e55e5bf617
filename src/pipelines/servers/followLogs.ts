import { Chunk, Effect, Option, Sink, Stream } from "effect"
import type { Scope } from "effect"
import { LogsFailed, type LogsQueryInvalid } from "../../schema/Container.ts"
import { type LogEvent, noSource, NothingToFollow } from "../../schema/Logs.ts"
import type { ServerUnresolved } from "../../schema/Server.ts"
import type { TooManyFollowers } from "../../schema/Ssh.ts"
import { boundedLines } from "../../services/bytes/boundedLines.ts"
import { lastBytes } from "../../services/bytes/lastBytes.ts"
import { scrubbed } from "../../services/secrets/scrubbed.ts"
import { secretsInUse, withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { followLogsCommand, longestLogLine, parseLogLine } from "../remote/followLogs.ts"
import { dockerHelp } from "./dockerHelp.ts"
import { latestLines } from "./latestLines.ts"
import { type LogsQuery, wantedLogs } from "./logsQuery.ts"
import { serverOr } from "./serverOr.ts"

/** How much of a line is handed on, in characters. */
const longestText = 8_000

const failed = (reason: string) => new LogsFailed({ reason })

/**
 * A log as it is written, its last lines first: of the stack where `remotePath` is given, with the containers that it
 * starts later, else of a container. It never ends by itself; what follows it on the server ends when the scope closes.
 * A reader that is slower than the log is told how many lines it missed.
 */
export const followLogs = Effect.fn("followLogs")(function*(
  serverId: string,
  query: LogsQuery
): Effect.fn.Return<
  Stream.Stream<LogEvent, LogsFailed>,
  LogsFailed | LogsQueryInvalid | NothingToFollow | ServerUnresolved | TooManyFollowers,
  Settings | Ssh | Scope.Scope
> {
  const settings = yield* Settings
  const server = yield* serverOr(serverId, failed)
  const { source, ...wanted } = yield* Effect.catchTag(
    wantedLogs(query),
    "LogsTargetMissing",
    ({ message }) => failed(message)
  )
  const orRefused = ({ message }: { readonly message: string }) => failed(dockerHelp(message, server))
  const process = yield* Effect.mapError(
    (yield* Ssh).spawn(server, followLogsCommand(source, wanted, server.useSudo)),
    (error) => error._tag === "TooManyFollowers" ? error : orRefused(error)
  )
  const said = lastBytes(4 * 1024)
  const quiet = yield* process.stderr.pipe(
    Stream.runForEach((chunk) => Effect.sync(() => said.add(chunk))),
    Effect.ignore,
    Effect.forkScoped
  )
  const lines = process.stdout.pipe(boundedLines(longestLogLine), Stream.mapError(orRefused))
  const [begun, rest] = yield* Stream.peel(lines, Sink.head<string>()).pipe(
    Effect.timeoutFail({ duration: "60 seconds", onTimeout: () => failed(`"${server.name}" does not answer`) })
  )
  if (Option.contains(begun, "none")) {
    return yield* new NothingToFollow({ reason: noSource(source, server.name, wanted.service) })
  }
  if (!Option.contains(begun, "following")) {
    yield* quiet
    return yield* failed(dockerHelp(yield* withoutSecrets(said.text().trim()), server))
  }
  return rest.pipe(
    Stream.filterMap(parseLogLine),
    Stream.mapChunksEffect((chunk) =>
      Effect.map(
        secretsInUse,
        (secrets) => Chunk.map(chunk, (line) => ({ ...line, text: scrubbed(line.text, secrets).slice(0, longestText) }))
      )
    ),
    latestLines,
    Stream.provideService(Settings, settings)
  )
})
