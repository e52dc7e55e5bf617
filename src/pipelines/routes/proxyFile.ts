import { Clock, Context, Data, type Duration, Effect, Equivalence, Option, Random } from "effect"
import {
  buildStagedNames,
  discardStaged,
  lockSeconds,
  proxyExit,
  readProxyFile,
  type Staged,
  writeProxyFile
} from "../../remote/proxy/proxyFileCommands.ts"
import { ProxyFileBusy, ProxyFileNotWritten, ProxyFileUnfit, ProxyFileUnreadable } from "../../schema/routes/Route.ts"
import { ConnectionLost, RemoteTimeout, type SshError } from "../../schema/servers/Ssh.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import { Sftp } from "../../services/ssh/Sftp.ts"
import { type RemoteExit, Ssh } from "../../services/ssh/Ssh.ts"
import type { ProxyLocation } from "./proxyLocation.ts"

/** The file has changed since it was read; nothing was written. */
export class ProxyFileChanged extends Data.TaggedError("ProxyFileChanged") {}

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
export const writeProxyText = (
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
