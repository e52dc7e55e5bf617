import { HttpClient, HttpClientRequest, Path } from "@effect/platform"
import { Clock, Context, Effect, Layer, Option, Redacted, Ref, Schedule, Schema, type Scope, Stream } from "effect"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { networkInterfaces } from "node:os"
import { dirname } from "node:path"
import { isEnded, type Run } from "../../schema/runs.ts"
import { formatTimeOfDay } from "../../schema/words.ts"
import { LocalFiles, privateFile } from "../local/LocalFiles.ts"
import { readPrivateFile } from "../local/user.ts"
import { Settings } from "../settings/Settings.ts"
import { BoundedClient } from "../upstream/Upstream.ts"

/**
 * Secret of this process, stored in a private file beside the settings. A client that can read it belongs to the same
 * user, and is authorized; without a token no client is.
 */
export class PrivateToken extends Context.Reference<PrivateToken>()("berth/PrivateToken", {
  defaultValue: () => Option.none<Redacted.Redacted>()
}) {}

/** Makes a new token for every start of the service. */
export const PrivateTokenLive: Layer.Layer<PrivateToken> = Layer.sync(
  PrivateToken,
  () => Option.some(Redacted.make(randomBytes(32).toString("base64url")))
)

/** Reports whether a process of this user has this id; processes of other users cannot be signalled. */
export const isProcess = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Header with a challenge, by which a client requests proof that the service has its private token. */
export const challengeHeader = "berth-challenge"
/** Response header with the proof. */
export const proofHeader = "berth-proof"

const challengeForm = /^[\w-]{43}$/

/** Makes a random challenge. */
export const makeChallenge = (): string => randomBytes(32).toString("base64url")

/**
 * Proves knowledge of the token without revealing it: an HMAC of the challenge, useful for nothing else. Undefined if
 * the challenge is malformed.
 */
export const computeProof = (token: Redacted.Redacted, challenge: string): string | undefined =>
  challengeForm.test(challenge)
    ? createHmac("sha256", Redacted.value(token)).update(`berth.service\n${challenge}`).digest("base64url")
    : undefined

/** Reports whether a proof was made with the token for this challenge. */
export const isProof = (token: Redacted.Redacted, challenge: string, given: string): boolean => {
  const right = Buffer.from(computeProof(token, challenge) ?? "")
  const other = Buffer.from(given)
  return right.length > 0 && right.length === other.length && timingSafeEqual(right, other)
}

/** Note of the process that holds a store. */
const HolderFields = Schema.Struct({
  pid: Schema.Int.pipe(Schema.positive()),
  /** Descriptions of the runs that it executes: `deploy of hello`. */
  runs: Schema.Array(Schema.String),
  /** Time since it holds the store, as an ISO text. */
  since: Schema.optional(Schema.String),
  /** Address of a service, by which commands find it if its own record is missing. */
  service: Schema.optional(Schema.Struct({ address: Schema.String, token: Schema.String }))
})
type HolderFields = typeof HolderFields.Type
const Holder = Schema.parseJson(HolderFields)

const besides = (file: string) => `${file}.holder`
const longestNote = 100_000
const mostShown = 3

const named = ({ kind, subject }: Run): string => {
  const place = subject.appName ?? subject.projectPath ?? subject.remotePath
  return place === undefined ? kind : `${kind} of ${place.split(/[/\\]/).at(-1) ?? place}`
}

const describeRuns = (runs: ReadonlyArray<string>) =>
  runs.length > mostShown ? [...runs.slice(0, mostShown), `${runs.length - mostShown} more`] : runs

/** Note of the living process that holds a store. */
const readNote = (file: string) =>
  Effect.tryPromise(() => readFile(besides(file), "utf8")).pipe(
    Effect.filterOrFail((text) => text.length <= longestNote),
    Effect.flatMap((text) => Schema.decode(Holder)(text)),
    Effect.filterOrFail(({ pid }) => isProcess(pid)),
    Effect.option
  )

/** Number of times that this process holds each store, by its file. */
const heldHere = new Map<string, number>()

const holdHere = (file: string) =>
  Effect.acquireRelease(
    Effect.sync(() => heldHere.set(file, (heldHere.get(file) ?? 0) + 1)),
    () =>
      Effect.sync(() => {
        const left = (heldHere.get(file) ?? 0) - 1
        if (left > 0) heldHere.set(file, left)
        else heldHere.delete(file)
      })
  )

/** True while this process holds a store. */
export const isHeldHere = (file: string): Effect.Effect<boolean> => Effect.sync(() => heldHere.has(file))

const wordsOf = ({ pid, runs }: HolderFields) => [...describeRuns(runs), `process ${pid}`].join(", ")

/** Describes the holder of a store: `deploy of hello, process 4711`; none if it is unknown. */
export const describeStoreHolder = (file: string): Effect.Effect<Option.Option<string>> =>
  Effect.map(readNote(file), Option.map(wordsOf))

/** A process that holds a store. */
export interface StoreHolder {
  /** `deploy of hello, process 4711` */
  readonly name: string
  /** True once it says which runs it executes. */
  readonly hasRuns: boolean
  /** Time of day, local, since it holds the store: `12:03:04`; none if it does not say. */
  readonly since: Option.Option<string>
  /** Origin of its address if it is a service. */
  readonly address: Option.Option<string>
}

const timeOfDay = (iso: string) => {
  const time = new Date(iso)
  return Number.isNaN(time.getTime()) ? Option.none() : Option.some(formatTimeOfDay(time))
}

/** Finds the living process that holds a store. */
export const findStoreHolder = (file: string): Effect.Effect<Option.Option<StoreHolder>> =>
  Effect.map(
    readNote(file),
    Option.map((note) => ({
      name: wordsOf(note),
      hasRuns: note.runs.length > 0,
      since: Option.flatMap(Option.fromNullable(note.since), timeOfDay),
      address: Option.map(Option.fromNullable(note.service), ({ address }) => address)
    }))
  )

const longestRecord = 100_000

/** Service that holds a store, with the token that authorizes the reader of its private note. */
export const findHoldingService = (file: string) =>
  readPrivateFile(besides(file), longestRecord).pipe(
    Effect.flatMap((text) => Schema.decode(Holder)(text)),
    Effect.map(({ pid, service }) => service === undefined ? Option.none() : Option.some({ ...service, pid })),
    Effect.orElseSucceed(() => Option.none())
  )

/** Addresses of the services in this process, and the writers of notes beside their settings, by directory. */
const announced = new Map<string, Required<HolderFields>["service"]>()
const writers = new Map<string, Set<Effect.Effect<void>>>()

const rewriteNotes = (directory: string) =>
  Effect.suspend(() => Effect.forEach(writers.get(directory) ?? [], (write) => write, { discard: true }))

/** Adds the address of this service to the note of a store that it holds beside its settings, until the scope closes. */
export const announceService = (
  directory: string,
  service: { readonly address: string; readonly token: string }
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.zipRight(
      Effect.sync(() => announced.has(directory) ? announced : announced.set(directory, service)),
      rewriteNotes(directory)
    ),
    () => Effect.sync(() => announced.get(directory) === service ? announced.delete(directory) : false)
  )

/** Note of this process, for others that wait for the store. */
export interface HolderNote {
  /** Updates the note with the state of a run. */
  readonly changed: (run: Run) => Effect.Effect<void>
}

/** Writes a note beside the file of a store until the scope closes. What cannot be written is tried again. */
export const noteHolder = (file: string): Effect.Effect<HolderNote, never, Scope.Scope> =>
  Effect.gen(function*() {
    const runs = new Map<string, string>()
    const turn = yield* Effect.makeSemaphore(1)
    const directory = dirname(file)
    const since = new Date(yield* Clock.currentTimeMillis).toISOString()
    let written = ""
    const write = Effect.ignore(Effect.tryPromise(async () => {
      const part = `${besides(file)}.tmp`
      await mkdir(directory, { recursive: true, mode: 0o700 })
      // Avoids writing through a link.
      await rm(part, { force: true })
      const service = announced.get(directory)
      const note: HolderFields = {
        pid: process.pid,
        runs: [...runs.values()],
        since,
        ...service === undefined ? {} : { service }
      }
      const text = JSON.stringify(note)
      try {
        await writeFile(part, text, { mode: 0o600, flag: "wx" })
        await rename(part, besides(file))
      } catch (cause) {
        await rm(part, { force: true })
        throw cause
      }
      written = text
    })).pipe(turn.withPermits(1))
    // Writes what could not be written, or was removed.
    const keep = Effect.tryPromise(() => readFile(besides(file), "utf8")).pipe(
      Effect.orElseSucceed(() => ""),
      Effect.flatMap((text) => text === written && text !== "" ? Effect.void : write)
    )
    yield* holdHere(file)
    yield* Effect.acquireRelease(
      Effect.sync(() => writers.set(directory, new Set([...writers.get(directory) ?? [], write]))),
      () => Effect.sync(() => writers.get(directory)?.delete(write))
    )
    yield* Effect.acquireRelease(
      write,
      () => Effect.ignore(Effect.tryPromise(() => rm(besides(file), { force: true })))
    )
    yield* Effect.forkScoped(Effect.interruptible(Effect.forever(Effect.delay(keep, recordPause))))
    return {
      changed: (run) =>
        Effect.suspend(() => {
          if (isEnded(run.state) ? !runs.delete(run.id) : runs.has(run.id)) return Effect.void
          if (!isEnded(run.state)) runs.set(run.id, named(run))
          return write
        })
    }
  })

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

const longestServiceRecord = 10_000
/** Longest wait for a service to prove its identity; a command then goes on without it. */
const answerTimeout = "3 seconds"
/** Longest silence of a command that waits for a service. */
const noticeDelay = "1500 millis"
/** Time for which a service that did not answer is not asked again. */
const silenceMillis = 10_000
const otherPause = "2 seconds"
/** Pause between two looks at the own record and note: a command that finds neither waits for longer. */
const recordPause = "2 seconds"

const recordName = "berth.service"
const fileBeside = (settingsFile: string) =>
  Effect.map(Path.Path, (path) => path.join(path.dirname(settingsFile), recordName))

const storeBeside = (settingsFile: string) =>
  Effect.map(Path.Path, (path) => path.join(path.dirname(settingsFile), "berth.db"))

/** Commands that wait look at the record again and again. */
const warned = new Set<string>()
const warnOnce = (words: string, subject = words) =>
  Effect.suspend(() =>
    warned.has(subject)
      ? Effect.void
      : Effect.zipRight(Effect.sync(() => warned.add(subject)), Effect.logWarning(words))
  )

const recordIn = (file: string) =>
  readPrivateFile(file, longestServiceRecord).pipe(
    // Commands send credentials to the recorded address, and trust its responses.
    Effect.tapError(({ code, message }) =>
      code === "ENOENT" || code === "ENOTDIR" ? Effect.void : warnOnce(`${file} is not used: ${message}. Remove it`)
    ),
    Effect.flatMap(Schema.decode(ServiceRecord)),
    Effect.option,
    Effect.map(Option.filter(({ address }) => isOfThisMachine(address)))
  )

/** Times at which services did not answer, by their tokens. */
const silent = new Map<string, number>()

const noticeOfWait = ({ address, pid }: LiveService) =>
  Effect.gen(function*() {
    const since = formatTimeOfDay(new Date(yield* Clock.currentTimeMillis))
    yield* Effect.delay(
      warnOnce(
        `Waiting for the service at ${address} (process ${pid}), which does not answer, since ${since} (Ctrl-C ends it)`,
        `${address} ${pid}`
      ),
      noticeDelay
    )
  })

/**
 * Checks that the service of a record answers. After a crash another user's program may listen on its port: the answer
 * must prove knowledge of the token, which itself is not sent.
 */
const answers = (service: LiveService) =>
  Effect.gen(function*() {
    const { address, token } = service
    const subject = `${address} ${Redacted.value(token)}`
    if (performance.now() - (silent.get(subject) ?? -Infinity) < silenceMillis) return false
    const challenge = makeChallenge()
    yield* Effect.forkScoped(noticeOfWait(service))
    const answered = yield* HttpClient.execute(
      HttpClientRequest.setHeader(HttpClientRequest.get(`${address}/api/health`), challengeHeader, challenge)
    ).pipe(
      Effect.map(({ headers }) => isProof(token, challenge, headers[proofHeader] ?? "")),
      Effect.scoped,
      Effect.orElseSucceed(() => false),
      Effect.timeoutOption(answerTimeout)
    )
    if (Option.isNone(answered)) silent.set(subject, performance.now())
    return Option.contains(answered, true)
  }).pipe(Effect.scoped, Effect.provide(BoundedClient))

const isLive = (service: LiveService) =>
  Effect.suspend(() => isProcess(service.pid) ? answers(service) : Effect.succeed(false))

/** Finds the service that holds the store of runs of a settings file, by its note there. */
export const findStoreService = (
  settingsFile: string
): Effect.Effect<Option.Option<LiveService>, never, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const holding = yield* findHoldingService(yield* storeBeside(settingsFile))
    if (Option.isNone(holding) || !isOfThisMachine(holding.value.address)) return Option.none()
    const { address, pid, token } = holding.value
    const service: LiveService = { address, pid, token: Redacted.make(token) }
    return (yield* isLive(service)) ? Option.some(service) : Option.none()
  })

/**
 * Finds the service that runs with a settings file, by its record, or else by its note beside the store of runs. Its
 * process must exist and prove its identity: a killed service leaves both behind.
 */
export const findService = Effect.fn("findService")(function*(
  settingsFile: string
): Effect.fn.Return<Option.Option<LiveService>, never, LocalFiles | Path.Path> {
  const recorded = yield* recordIn(yield* fileBeside(settingsFile))
  if (Option.isSome(recorded) && (yield* isLive(recorded.value))) return recorded
  return yield* findStoreService(settingsFile)
})

/** Finds a recorded service of another process, or another one of this process. */
const findOtherService = (file: string) =>
  Effect.flatMap(recordIn(file), (recorded) =>
    Option.isSome(recorded)
      ? Effect.map(isLive(recorded.value), (is) => is ? recorded : Option.none())
      : Effect.succeedNone)

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
  const file = path.join(settings.directory, recordName)
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
  const other = Effect.tap(
    findOtherService(file),
    (found) =>
      command || Option.isNone(found) || found.value.command === true
        ? Effect.void
        : warnOnce(
          `Another service with these settings runs at ${found.value.address} (process ${found.value.pid}): ` +
            "commands use that one until it ends"
        )
  )
  const noOther = Effect.repeat(other, { until: Option.isNone, schedule: Schedule.spaced(otherPause) })
  const keep = Effect.unlessEffect(Effect.zipRight(noOther, Effect.uninterruptible(write)), isOwn)
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.whenEffect(files.remove(file), isOwn)))
  if (!command) yield* announceService(path.dirname(file), { address, token: Redacted.value(token.value) })
  yield* Effect.forkScoped(Effect.repeat(keep, Schedule.spaced(recordPause)))
})
