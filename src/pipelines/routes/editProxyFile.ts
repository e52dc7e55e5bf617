import { Effect, Either, Option, Ref, Schedule } from "effect"
import {
  ProxyFileBusy,
  type ProxyFileError,
  ProxyFileUnfit,
  RouteBridged,
  RouteInvalid,
  RouteTaken
} from "../../schema/routes/Route.ts"
import type { RemoteFileFailed, SshError } from "../../schema/servers/Ssh.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { makeProxyLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { ProxyFileChanged, readProxyText, writeProxyText } from "./proxyFile.ts"
import { type ProxyLocation, proxyLocation } from "./proxyLocation.ts"
import { Refusal } from "./Refusal.ts"
import { RouteEdit } from "./RouteEdit.ts"

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
export interface EditPreconditions<E> {
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
