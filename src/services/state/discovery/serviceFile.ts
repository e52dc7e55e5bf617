import { HttpClient, HttpClientRequest, Path } from "@effect/platform"
import { Effect, Option, Redacted, Schedule, Schema, type Scope, Stream } from "effect"
import { networkInterfaces } from "node:os"
import { LocalFiles } from "../../local/LocalFiles.ts"
import { readPrivateFile } from "../../local/readPrivateFile.ts"
import { Settings } from "../../settings/Settings.ts"
import { BoundedClient } from "../../upstream/boundedClient.ts"
import { isProcess } from "./isProcess.ts"
import { PrivateToken } from "./PrivateToken.ts"
import { challengeHeader, isProof, makeChallenge, proofHeader } from "./serviceProof.ts"

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, "")

/** Reports whether the host of an address belongs to this machine. */
export const isOfThisMachine = (address: string): boolean => {
  if (!URL.canParse(address)) return false
  const { hostname, protocol } = new URL(address)
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []).map((one) => one.address)
  return protocol === "http:" && (/^127(?:\.\d+){3}$/.test(hostname) || ["::1", ...own].includes(bare(hostname)))
}

/** Record beside the settings file, by which other programs of the same user find a service. */
const ServiceRecord = Schema.parseJson(Schema.Struct({
  /** Origin of its address: `http://127.0.0.1:3100`. */
  address: Schema.String,
  /** Authorizes its reader, regardless of the tokens in the settings. */
  token: Schema.Redacted(Schema.NonEmptyString),
  pid: Schema.Int.pipe(Schema.positive()),
  /** Present for a command, which serves requests while its own run lasts and does not start runs for others. */
  command: Schema.optional(Schema.Literal(true))
}))

export type LiveService = typeof ServiceRecord.Type

const longestRecord = 10_000
const answerTimeout = "5 seconds"
const otherPause = "2 seconds"

const fileBeside = (settingsFile: string) =>
  Effect.map(Path.Path, (path) => path.join(path.dirname(settingsFile), "berth.service"))

const recordIn = (file: string) =>
  readPrivateFile(file, longestRecord).pipe(
    // Commands send credentials to the recorded address, and trust its responses.
    Effect.tapError(({ code, message }) =>
      code === "ENOENT" ? Effect.void : Effect.logWarning(`${file} is not used: ${message}. Remove it`)
    ),
    Effect.flatMap(Schema.decode(ServiceRecord)),
    Effect.option,
    Effect.map(Option.filter(({ address }) => isOfThisMachine(address)))
  )

/**
 * Checks that the service of a record answers. After a crash another user's program may listen on its port: the answer
 * must prove knowledge of the token, which itself is not sent.
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
 * Finds the service that runs with a settings file. Its process must exist and prove its identity: a killed service leaves
 * its record behind.
 */
export const findService = Effect.fn("findService")(function*(
  settingsFile: string
): Effect.fn.Return<Option.Option<LiveService>, never, LocalFiles | Path.Path> {
  const recorded = yield* recordIn(yield* fileBeside(settingsFile))
  return Option.isSome(recorded) && (yield* isLive(recorded.value)) ? recorded : Option.none()
})

/** Finds the command that holds the store of runs of a settings file and serves requests about its runs. */
export const findCommand = (
  settingsFile: string
): Effect.Effect<Option.Option<LiveService>, never, LocalFiles | Path.Path> =>
  Effect.map(findService(settingsFile), Option.filter(({ command }) => command === true))

/**
 * Writes the record of this service, in a private file, until the scope closes; waits until another service with the
 * same settings has ended.
 * @param address origin at which this machine reaches this service
 * @param command set by a command, which answers only as long as its own run lasts
 */
export const recordService = Effect.fn("recordService")(function*(
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
    Option.exists((recorded) => Redacted.value(recorded.token) === Redacted.value(record.token))
  )
  const text = yield* Effect.orDie(Schema.encode(ServiceRecord)(record))
  // Replaces any file there, and does not follow a link.
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
