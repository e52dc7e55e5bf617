import { Chunk, Effect, Option, type Scope, Sink, Stream } from "effect"
import { followLogsCommand, liveMark, longestLogLine, parseLogLine } from "../../remote/logs/followLogsCommand.ts"
import { logLimit } from "../../remote/logs/logsCommand.ts"
import {
  describeMissingSource,
  type LogLine,
  LogsFailed,
  makeLineFilter,
  mostLogLines,
  NothingToFollow
} from "../../schema/servers/Logs.ts"
import { keepLastBytes } from "../../services/bytes/keepLastBytes.ts"
import { splitBoundedLines } from "../../services/bytes/splitBoundedLines.ts"
import { scrubText } from "../../services/secrets/scrubText.ts"
import { scrubSecrets, secretsInUse } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { describeDockerRefusal } from "./describeDockerRefusal.ts"
import { findServerOrFail } from "./findServerOrFail.ts"
import { type LogsQuery, type ResolvedLogsQuery, resolveLogsQuery } from "./logsQuery.ts"

/** Longest line passed on, in characters. */
const longestText = 8_000

/** Collects lines up to the mark, within the limits. */
const lastLines = () => {
  // The server may send more lines than were requested.
  let count = 0
  let length = 0
  return Sink.collectAllWhile((text: string) =>
    text !== liveMark && (count += 1) <= mostLogLines && (length += text.length) <= logLimit
  )
}

const failed = (reason: string) => new LogsFailed({ reason })

/** A followed log: its last lines, then new ones. */
export interface OpenLog {
  readonly wanted: ResolvedLogsQuery
  /** Reads the last lines, then returns the stream of further ones. Do not read both at once. */
  readonly read: Effect.Effect<
    { readonly past: ReadonlyArray<LogLine>; readonly live: Stream.Stream<LogLine, LogsFailed> },
    LogsFailed,
    Scope.Scope
  >
}

/** Redacts secrets in lines, and drops lines without the requested text. */
const readable = <E>(lines: Stream.Stream<LogLine, E>, contains: string): Stream.Stream<LogLine, E, Settings> => {
  const fits = makeLineFilter(contains)
  return Stream.mapChunksEffect(lines, (chunk) =>
    Effect.map(secretsInUse, (secrets) =>
      chunk.pipe(
        Chunk.map((line) => ({ ...line, text: scrubText(line.text, secrets).slice(0, longestText) })),
        Chunk.filter(({ text }) => fits(text))
      )))
}

/**
 * Opens the log of the stack at `remotePath`, including containers that it starts later, or of a container, running or
 * not. The remote command ends when the scope closes.
 */
export const openLog = Effect.fn("openLog")(function*(
  serverId: string,
  query: LogsQuery
) {
  const settings = yield* Settings
  const server = yield* findServerOrFail(serverId, failed)
  const wanted = yield* Effect.catchTag(resolveLogsQuery(query), "LogsTargetMissing", ({ message }) => failed(message))
  const orRefused = ({ message }: { readonly message: string }) => failed(describeDockerRefusal(message, server))
  const process = yield* Effect.mapError(
    (yield* Ssh).spawn(server, followLogsCommand(wanted.source, wanted, server.useSudo)),
    (error) => error._tag === "TooManyFollowers" ? error : orRefused(error)
  )
  const said = keepLastBytes(4 * 1024)
  const quiet = yield* process.stderr.pipe(
    Stream.runForEach((chunk) => Effect.sync(() => said.add(chunk))),
    Effect.ignore,
    Effect.forkScoped
  )
  const lines = process.stdout.pipe(splitBoundedLines(longestLogLine), Stream.mapError(orRefused))
  const [begun, rest] = yield* Stream.peel(lines, Sink.head<string>()).pipe(
    Effect.timeoutFail({ duration: "60 seconds", onTimeout: () => failed(`"${server.name}" does not answer`) })
  )
  if (Option.contains(begun, "none")) {
    return yield* new NothingToFollow({ reason: describeMissingSource(wanted.source, server.name, wanted.service) })
  }
  if (!Option.contains(begun, "following")) {
    yield* quiet
    return yield* failed(describeDockerRefusal(yield* scrubSecrets(said.text().trim()), server))
  }
  const parsed = <E>(texts: Stream.Stream<string, E>) =>
    Stream.provideService(readable(Stream.filterMap(texts, parseLogLine), wanted.contains), Settings, settings)
  const read = Effect.gen(function*() {
    const [texts, further] = yield* Stream.peel(rest, lastLines()).pipe(
      Effect.timeoutFail({
        duration: "2 minutes",
        onTimeout: () => failed(`reading the log on "${server.name}" takes longer than 2 minutes: limit it by since`)
      })
    )
    const past = yield* Stream.runCollect(parsed(Stream.fromChunk(texts)))
    return { past: Chunk.toReadonlyArray(past).slice(-wanted.lines), live: parsed(further) }
  })
  return { wanted, read }
})
