import { HttpClient, HttpClientRequest, Path } from "@effect/platform"
import { Effect, Option, Redacted, Ref, Schedule, Schema, type Scope, Stream } from "effect"
import { networkInterfaces } from "node:os"
import { LocalFiles, privateFile } from "../../local/LocalFiles.ts"
import { readPrivateFile } from "../../local/readPrivateFile.ts"
import { Settings } from "../../settings/Settings.ts"
import { BoundedClient } from "../../upstream/boundedClient.ts"
import { isProcess } from "./isProcess.ts"
import { PrivateToken } from "./PrivateToken.ts"
import { challengeHeader, isProof, makeChallenge, proofHeader } from "./serviceProof.ts"
import { announceService, findHoldingService } from "./storeHolder.ts"

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
/** Pause between two looks at the own record. */
const recordPause = "5 seconds"

const fileBeside = (settingsFile: string) =>
  Effect.map(Path.Path, (path) => path.join(path.dirname(settingsFile), "berth.service"))

const storeBeside = (settingsFile: string) =>
  Effect.map(Path.Path, (path) => path.join(path.dirname(settingsFile), "berth.db"))

/** Commands that wait look at the record again and again. */
const warned = new Set<string>()
const warnOnce = (words: string) =>
  Effect.suspend(() =>
    warned.has(words) ? Effect.void : Effect.zipRight(Effect.sync(() => warned.add(words)), Effect.logWarning(words))
  )

const recordIn = (file: string) =>
  readPrivateFile(file, longestRecord).pipe(
    // Commands send credentials to the recorded address, and trust its responses.
    Effect.tapError(({ code, message }) =>
      code === "ENOENT" || code === "ENOTDIR" ? Effect.void : warnOnce(`${file} is not used: ${message}. Remove it`)
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
 * Finds the service that runs with a settings file, by its record, or else by its note beside the store of runs. Its
 * process must exist and prove its identity: a killed service leaves both behind.
 */
export const findService = Effect.fn("findService")(function*(
  settingsFile: string
): Effect.fn.Return<Option.Option<LiveService>, never, LocalFiles | Path.Path> {
  const recorded = yield* recordIn(yield* fileBeside(settingsFile))
  if (Option.isSome(recorded) && (yield* isLive(recorded.value))) return recorded
  const holding = Option.map(yield* findHoldingService(yield* storeBeside(settingsFile)), ({ token, ...service }) => ({
    ...service,
    token: Redacted.make(token)
  }))
  const isUsable = Option.isSome(holding) && isOfThisMachine(holding.value.address) && (yield* isLive(holding.value))
  return isUsable ? holding : Option.none()
})

/** Finds a recorded service of another process, or another one of this process. */
const findOtherService = (settingsFile: string) =>
  Effect.flatMap(
    fileBeside(settingsFile),
    (file) =>
      Effect.flatMap(recordIn(file), (recorded) =>
        Option.isSome(recorded)
          ? Effect.map(isLive(recorded.value), (is) => is ? recorded : Option.none())
          : Effect.succeedNone)
  )

/** Finds the command that holds the store of runs of a settings file and serves requests about its runs. */
export const findCommand = (
  settingsFile: string
): Effect.Effect<Option.Option<LiveService>, never, LocalFiles | Path.Path> =>
  Effect.map(findService(settingsFile), Option.filter(({ command }) => command === true))

/**
 * Keeps the record of this service in a private file until the scope closes; waits until another service with the same
 * settings has ended. Creates the directory of the settings, tries again what failed, and writes a record anew that
 * somebody removed.
 * @param address origin at which this machine reaches this service
 * @param command set by a command, which answers only as long as its own run lasts
 */
export const recordService = Effect.fn("recordService")(function*(
  address: string,
  { command = false }: { readonly command?: boolean } = {}
): Effect.fn.Return<void, never, LocalFiles | Path.Path | Settings | Scope.Scope> {
  const files = yield* LocalFiles
  const path = yield* Path.Path
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
  const failure = yield* Ref.make("")
  // Replaces any file there, and does not follow a link.
  const write = files.save(file, Stream.make(new TextEncoder().encode(`${text}\n`)), privateFile).pipe(
    Effect.zipRight(Ref.set(failure, "")),
    Effect.catchAll(({ message }) =>
      Effect.flatMap(Ref.getAndSet(failure, message), (before) =>
        before === message ? Effect.void : Effect.logWarning(
          `Other programs do not find this service by itself: ${message}. Berth keeps trying to write it. Until then name ` +
            `the service: --url ${address}`
        ))
    )
  )
  const noOther = Effect.repeat(findOtherService(settings.file), {
    until: Option.isNone,
    schedule: Schedule.spaced(otherPause)
  })
  const keep = Effect.unlessEffect(Effect.zipRight(noOther, Effect.uninterruptible(write)), isOwn)
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.whenEffect(files.remove(file), isOwn)))
  if (!command) yield* announceService(path.dirname(file), { address, token: Redacted.value(token.value) })
  yield* Effect.forkScoped(Effect.repeat(keep, Schedule.spaced(recordPause)))
})
