import { HttpClient, HttpClientRequest, Path } from "@effect/platform"
import { Effect, Option, Redacted, Schedule, Schema, Stream } from "effect"
import type { Scope } from "effect"
import { LocalFiles } from "../local/LocalFiles.ts"
import { readOwn } from "../local/readOwn.ts"
import { Settings } from "../settings/Settings.ts"
import { BoundedClient } from "../upstream/boundedClient.ts"
import { isOfThisMachine } from "./isOfThisMachine.ts"
import { isProcess } from "./isProcess.ts"
import { PrivateToken } from "./PrivateToken.ts"
import { challengeHeader, isProof, makeChallenge, proofHeader } from "./serviceProof.ts"

/** What a service leaves beside its settings file, so that other programs of the same user find it. */
const ServiceRecord = Schema.parseJson(Schema.Struct({
  /** Where it is reached, without a path: `http://127.0.0.1:3100`. */
  address: Schema.String,
  /** Lets its reader in, whatever the settings say of tokens. */
  token: Schema.Redacted(Schema.NonEmptyString),
  pid: Schema.Int.pipe(Schema.positive()),
  /** Present where a command answers, only as long as its own run lasts: it starts no runs for others. */
  command: Schema.optional(Schema.Literal(true))
}))

/** A service that runs, as other programs of the same user reach it. */
export type LiveService = typeof ServiceRecord.Type

const longestRecord = 10_000
const answerTimeout = "5 seconds"
const otherPause = "2 seconds"

const fileBeside = (settingsFile: string) =>
  Effect.map(Path.Path, (path) => path.join(path.dirname(settingsFile), "berth.service"))

const recordIn = (file: string) =>
  readOwn(file, longestRecord).pipe(
    // Its address is sent credentials, and decides what a command does.
    Effect.tapError(({ code, message }) =>
      code === "ENOENT" ? Effect.void : Effect.logWarning(`${file} is not used: ${message}. Remove it`)
    ),
    Effect.flatMap(Schema.decode(ServiceRecord)),
    Effect.option,
    Effect.map(Option.filter(({ address }) => isOfThisMachine(address)))
  )

/**
 * Whether the service that left the record answers. Where it was killed, or the machine was restarted, another user's
 * program may have its port by now: none is believed, or sent the token, that does not prove that it holds the token.
 */
const answers = ({ address, token }: LiveService) =>
  Effect.suspend(() => {
    const challenge = makeChallenge()
    return HttpClient.execute(
      HttpClientRequest.setHeader(HttpClientRequest.get(`${address}/api/health`), challengeHeader, challenge)
    ).pipe(
      Effect.map(({ headers }) => isProof(token, challenge, headers[proofHeader] ?? "")),
      Effect.scoped,
      Effect.timeout(answerTimeout),
      Effect.orElseSucceed(() => false),
      Effect.provide(BoundedClient)
    )
  })

const isLive = (service: LiveService) =>
  Effect.suspend(() => isProcess(service.pid) ? answers(service) : Effect.succeed(false))

/**
 * The service that runs with a settings file, if one does. What a service left that was killed is not taken for one: its
 * process must be there, and prove that it is the one.
 */
export const findService = Effect.fn("findService")(function*(
  settingsFile: string
): Effect.fn.Return<Option.Option<LiveService>, never, LocalFiles | Path.Path> {
  const left = yield* recordIn(yield* fileBeside(settingsFile))
  return Option.isSome(left) && (yield* isLive(left.value)) ? left : Option.none()
})

/**
 * Finds the command that has the store of runs of a settings file, and answers about its runs.
 */
export const findCommand = (
  settingsFile: string
): Effect.Effect<Option.Option<LiveService>, never, LocalFiles | Path.Path> =>
  Effect.map(findService(settingsFile), Option.filter(({ command }) => command === true))

/**
 * Leaves word where this service is reached, in a file that its user alone can read, until the scope closes. Where
 * another service with the same settings has left its own, it waits until that one has ended.
 * @param address where this service is reached from this machine, without a path
 * @param command set by a command, which answers only as long as its own run lasts
 */
export const leaveWord = Effect.fn("leaveWord")(function*(
  address: string,
  { command = false }: { readonly command?: boolean } = {}
): Effect.fn.Return<void, never, LocalFiles | Path.Path | Settings | Scope.Scope> {
  const files = yield* LocalFiles
  const token = yield* PrivateToken
  const settings = yield* Settings
  if (Option.isNone(token)) return
  const file = yield* fileBeside(settings.file)
  const record: LiveService = { address, token: token.value, pid: process.pid, ...command ? { command: true } : {} }
  const isOwn = Effect.map(
    recordIn(file),
    Option.exists((left) => Redacted.value(left.token) === Redacted.value(record.token))
  )
  const text = yield* Effect.orDie(Schema.encode(ServiceRecord)(record))
  // Whatever stands there is replaced, and a link is not followed.
  const write = files.save(file, Stream.make(new TextEncoder().encode(`${text}\n`)), { mode: 0o600 }).pipe(
    Effect.catchAll(({ message }) => Effect.logWarning(`Other programs do not find this service by itself: ${message}`))
  )
  const noOther = Effect.repeat(findService(settings.file), {
    until: Option.isNone,
    schedule: Schedule.spaced(otherPause)
  })
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.whenEffect(files.remove(file), isOwn)))
  yield* Effect.forkScoped(Effect.zipRight(noOther, Effect.uninterruptible(write)))
})
