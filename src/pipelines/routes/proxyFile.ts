import {
  Clock,
  Context,
  Data,
  type Duration,
  Effect,
  Either,
  Equivalence,
  Option,
  Random,
  Ref,
  Schedule,
  Schema
} from "effect"
import {
  buildStagedNames,
  discardStaged,
  lockSeconds,
  proxyExit,
  readProxyFile,
  type Staged,
  writeProxyFile
} from "../../remote/proxy.ts"
import {
  ProxyFileBusy,
  type ProxyFileError,
  ProxyFileNotWritten,
  ProxyFileUnfit,
  ProxyFileUnreadable,
  ProxySettingsInvalid,
  RouteBridged,
  RouteInvalid,
  RouteTaken,
  TargetAddress
} from "../../schema/routes.ts"
import {
  ConnectionLost,
  type RemoteFileFailed,
  RemoteTimeout,
  type ServerAccess,
  type SshError
} from "../../schema/ssh.ts"
import { type FileLocked, Locks, makeProxyLock } from "../../services/locks/Locks.ts"
import { uncancellable } from "../../services/runs/Steps.ts"
import { Settings, type SettingsError } from "../../services/settings/Settings.ts"
import { Sftp } from "../../services/ssh/Sftp.ts"
import { type RemoteExit, Ssh } from "../../services/ssh/Ssh.ts"
import { Refusal, RouteEdit } from "./proxyText.ts"

/** Proxy file and its server. */
export interface ProxyLocation {
  readonly server: ServerAccess
  readonly file: string
}

const isAddress = Schema.decodeUnknownEither(TargetAddress)

/** Default target address of routes. */
export const targetAddress: Effect.Effect<string, SettingsError | ProxySettingsInvalid, Settings> = Effect.gen(
  function*() {
    const settings = yield* Settings
    const address = yield* settings.get("proxy.targetIp")
    if (Either.isRight(isAddress(address))) return address
    return yield* new ProxySettingsInvalid({
      reason: `The setting proxy.targetIp in ${settings.file} must be an IP address or a host name`
    })
  }
)

/** Id of the proxy file's server: the configured one, else the one at the target address, else the only one. */
const serverId = Effect.gen(function*() {
  const settings = yield* Settings
  const configured = yield* settings.find("proxy.server")
  if (Option.isSome(configured)) return configured.value
  const servers = yield* settings.servers
  const targetIp = yield* settings.find("proxy.targetIp")
  const found = servers.find(({ host }) => Option.contains(targetIp, host)) ??
    (servers.length === 1 ? servers[0] : undefined)
  if (found !== undefined) return found.id
  const why = servers.length === 0
    ? "no server is stored"
    : `none of the ${servers.length} stored servers has proxy.targetIp as its host`
  return yield* new ProxySettingsInvalid({
    reason:
      `Which server holds the proxy file? ${why}: set proxy.server in ${settings.file} to the id or the name of one`
  })
})

/** Server that the proxy runs on, from the settings. */
export const proxyServer: Effect.Effect<ServerAccess, SettingsError | ProxySettingsInvalid, Settings> = Effect.gen(
  function*() {
    const settings = yield* Settings
    const id = yield* serverId
    return yield* Effect.catchTags(settings.server(id), {
      ServerNotFound: () =>
        new ProxySettingsInvalid({
          reason: `The setting proxy.server in ${settings.file} is "${id}", and no stored server has that id or name`
        }),
      ServerAmbiguous: ({ message }) =>
        new ProxySettingsInvalid({ reason: `The setting proxy.server in ${settings.file}: ${message}` })
    })
  }
)

/** Server and path of the proxy file, from the settings. */
export const proxyLocation: Effect.Effect<ProxyLocation, SettingsError | ProxySettingsInvalid, Settings> = Effect.gen(
  function*() {
    const settings = yield* Settings
    const file = yield* settings.get("proxy.configFile")
    return { server: yield* proxyServer, file }
  }
)

/** The file has changed since it was read; nothing was written. */
class ProxyFileChanged extends Data.TaggedError("ProxyFileChanged") {}

const timeout = `${2 * lockSeconds} seconds` as const

const named = ({ file, server }: ProxyLocation) => ({ file, server: server.name })

const wordsOf = ({ code, stderr }: RemoteExit): string =>
  stderr.trim().slice(-1_000) || (code === null ? "the command was killed" : `the command ended with exit code ${code}`)

const busy = (home: ProxyLocation) =>
  new ProxyFileBusy({ ...named(home), reason: `somebody else has been editing it for ${lockSeconds} s` })

/** Adds the proxy file to a connection failure, whose own message only names the server. */
const brokenOff = <F>(failure: (words: string) => F) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.mapError(
    effect,
    (error) => error instanceof ConnectionLost || error instanceof RemoteTimeout ? failure(error.message) : error
  )

type ReadFailure = ProxyFileBusy | ProxyFileUnfit | ProxyFileUnreadable | SshError

/** Shared read of the proxy file for concurrent observations. */
class SharedReading extends Context.Tag("berth/SharedReading")<
  SharedReading,
  (home: ProxyLocation) => Effect.Effect<string, ReadFailure>
>() {}

const sameHome = Equivalence.make<ProxyLocation>((a, b) => a.file === b.file && a.server.id === b.server.id)

/**
 * Shares one read of the proxy file within an observation. The read times out, so that the other observations are not
 * blocked.
 */
export const withSharedReading = (longest: Duration.DurationInput) => <A, E, R>(observed: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    if (Option.isSome(yield* Effect.serviceOption(SharedReading))) return yield* observed
    const context = yield* Effect.context<Ssh>()
    const read = yield* Effect.cachedFunction((home: ProxyLocation) =>
      readFresh(home).pipe(
        Effect.provide(context),
        Effect.disconnect,
        Effect.timeoutFail({
          duration: longest,
          onTimeout: () => new ProxyFileUnreadable({ ...named(home), reason: "the server did not answer in time" })
        })
      ), sameHome)
    return yield* Effect.provideService(observed, SharedReading, read)
  })

/** The text of the proxy file, byte for byte; never in the middle of an edit by another Berth. */
export const readProxyText = (home: ProxyLocation): Effect.Effect<string, ReadFailure, Ssh> =>
  Effect.flatMap(
    Effect.serviceOption(SharedReading),
    Option.match({ onNone: () => readFresh(home), onSome: (read) => read(home) })
  )

const readFresh = Effect.fn("ProxyFile.read")(function*(
  home: ProxyLocation
): Effect.fn.Return<string, ReadFailure, Ssh> {
  const ssh = yield* Ssh
  const unfit = (reason: string) => new ProxyFileUnfit({ ...named(home), line: null, reason })
  const exit = yield* ssh.exec(home.server, readProxyFile(home.file), { timeout }).pipe(
    brokenOff((reason) => new ProxyFileUnreadable({ ...named(home), reason })),
    Effect.catchTag("RemoteOutputTooLong", ({ limit }) => unfit(`it is larger than ${limit}`))
  )
  if (exit.code === proxyExit.busy) return yield* busy(home)
  if (exit.code !== 0) return yield* new ProxyFileUnreadable({ ...named(home), reason: wordsOf(exit) })
  if (exit.stdout.includes("\uFFFD")) return yield* unfit("it is not valid UTF-8")
  return exit.stdout
})

const either = "It holds what it held before, or the whole new text"
const untouched = "It was not touched"

const outcome = (home: ProxyLocation) => (exit: RemoteExit) => {
  const failed = (reason: string) => new ProxyFileNotWritten({ ...named(home), reason: `${wordsOf(exit)}. ${reason}` })
  switch (exit.code) {
    case 0:
      return Effect.void
    case proxyExit.changed:
      return new ProxyFileChanged()
    case proxyExit.busy:
      return busy(home)
    case proxyExit.restored:
      return failed("It holds again what it held before")
    case proxyExit.damaged:
      return failed(`IT MAY BE DAMAGED: what it held before is in ${home.file}.berth-bak, copy that back`)
    case proxyExit.noBackup:
      return failed(`It was not touched: no copy could be kept at ${home.file}.berth-bak`)
    case proxyExit.unusable:
      return failed(untouched)
    default:
      return failed(either)
  }
}

/** True if the script itself ended, because it then removed the staged copies. */
const cleansUp = ({ code }: RemoteExit) => [0, ...Object.values(proxyExit)].some((known) => known === code)

const names: Effect.Effect<Staged> = Effect.gen(function*() {
  const now = yield* Clock.currentTimeMillis
  const random = yield* Random.nextIntBetween(0, 2 ** 48)
  return buildStagedNames(`${now.toString(36)}${random.toString(36)}`)
})

const stage = (
  home: ProxyLocation,
  { after, before }: Staged,
  texts: { readonly before: string; readonly after: string }
) =>
  Effect.gen(function*() {
    const session = yield* (yield* Sftp).session(home.server)
    const encoder = new TextEncoder()
    yield* session.writePrivate(`~/${before}`, encoder.encode(texts.before))
    yield* session.writePrivate(`~/${after}`, encoder.encode(texts.after))
  }).pipe(
    Effect.scoped,
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => new ProxyFileNotWritten({ ...named(home), reason: `the transfer took too long. ${untouched}` })
    })
  )

/**
 * Replaces the text of the proxy file in place and verifies it; after any failure the file has either the old or the
 * new text. Fails with `ProxyFileChanged` if it has neither.
 */
const writeProxyText = (
  home: ProxyLocation,
  texts: { readonly before: string; readonly after: string }
) =>
  Effect.gen(function*() {
    const ssh = yield* Ssh
    const copies = yield* names
    const discard = ssh.exec(home.server, discardStaged(copies), { timeout }).pipe(Effect.ignoreLogged)
    const broken = (left: string) =>
      brokenOff((words) => new ProxyFileNotWritten({ ...named(home), reason: `${words}. ${left}` }))
    const write = ssh.exec(home.server, writeProxyFile(home.file, copies), { timeout })
    const exit = yield* broken(untouched)(stage(home, copies, texts)).pipe(
      Effect.zipRight(broken(either)(write)),
      Effect.tapErrorCause(() => discard)
    )
    if (!cleansUp(exit)) yield* discard
    yield* outcome(home)(exit)
  }).pipe(uncancellable, Effect.withSpan("ProxyFile.write", { attributes: { file: home.file } }))

export type EditFailure =
  | ProxyFileError
  | RouteInvalid
  | RouteTaken
  | SettingsError
  | SshError
  | RemoteFileFailed
  | FileLocked

export type EditServices = Settings | Ssh | Sftp | Locks

/** Converts a refusal into an error that names the file and its server. */
export const toProxyFileError = ({ file, server }: ProxyLocation) =>
  Refusal.$match({
    Broken: ({ line, reason }) => new ProxyFileUnfit({ file, server: server.name, line, reason }),
    Unfit: ({ line, reason }) => new ProxyFileUnfit({ file, server: server.name, line, reason }),
    Bridged: ({ port, routeName }) => new RouteBridged({ file, server: server.name, routeName, port }),
    Taken: (refusal): RouteTaken | RouteInvalid | ProxyFileUnfit | RouteBridged => new RouteTaken(refusal),
    Invalid: ({ reason }) => new RouteInvalid({ reason })
  })

export type PreviewFailure = Exclude<EditFailure, FileLocked | RemoteFileFailed>

/** Previews an edit: the file before and after it. Writes nothing. */
export const previewProxyEdit = Effect.fn("ProxyFile.preview")(function*(
  decide: (text: string) => Either.Either<RouteEdit, Refusal>
) {
  const home = yield* proxyLocation
  const before = yield* readProxyText(home)
  return { home, before, edit: yield* Either.mapLeft(decide(before), toProxyFileError(home)) }
})

// Another Berth or an operator may write between read and write: the edit is then repeated on the new text.
const again = Schedule.intersect(Schedule.jittered(Schedule.exponential("50 millis")), Schedule.recurs(6))

/** Preconditions of an edit. */
interface EditPreconditions<E> {
  /** Text on which the edit was decided: saves a read while the file still has it. */
  readonly before: Option.Option<string>
  /** Fails if the edit is not the planned one; called again if the file was changed meanwhile. */
  readonly matchesPlan: (edit: RouteEdit) => Effect.Effect<void, E>
}

/**
 * Edits the proxy file with a pure function of its text. Edits of a file are serialized within this process and among
 * all Berth processes.
 */
export const editProxyFile = Effect.fn("ProxyFile.edit")(function*<E = never>(
  decide: (text: string) => Either.Either<RouteEdit, Refusal>,
  foreseen: EditPreconditions<E> = { before: Option.none(), matchesPlan: () => Effect.void }
): Effect.fn.Return<RouteEdit, EditFailure | E, EditServices> {
  const locks = yield* Locks
  const home = yield* proxyLocation
  const known = yield* Ref.make(foreseen.before)
  const attempt = Effect.gen(function*() {
    const text = yield* Ref.getAndSet(known, Option.none())
    const before = Option.isSome(text) ? text.value : yield* readProxyText(home)
    const edit = yield* Either.mapLeft(decide(before), toProxyFileError(home))
    yield* foreseen.matchesPlan(edit)
    if (RouteEdit.$is("Edited")(edit)) yield* writeProxyText(home, { before, after: edit.text })
    return edit
  })
  return yield* attempt.pipe(
    Effect.retry({ while: (error) => error instanceof ProxyFileChanged, schedule: again }),
    Effect.mapError((error) =>
      error instanceof ProxyFileChanged
        ? new ProxyFileBusy({ file: home.file, server: home.server.name, reason: "somebody else keeps changing it" })
        : error
    ),
    locks.withLock(makeProxyLock(home.server, home.file))
  )
})
