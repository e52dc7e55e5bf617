import { Effect, Either, Option, Ref, Schedule } from "effect"
import { ProxyFileBusy, type ProxyFileError, ProxyFileUnfit, RouteInvalid, RouteTaken } from "../../schema/Route.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { RemoteFileFailed, SshError } from "../../schema/Ssh.ts"
import { proxyLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { ProxyFileChanged, readProxyText, writeProxyText } from "./proxyFile.ts"
import { type ProxyHome, proxyHome } from "./proxyHome.ts"
import { Refusal } from "./Refusal.ts"
import { RouteEdit } from "./RouteEdit.ts"

/** What can go wrong with an edit of the proxy file. */
export type EditFailure =
  | ProxyFileError
  | RouteInvalid
  | RouteTaken
  | SettingsError
  | SshError
  | RemoteFileFailed
  | FileLocked

/** What editing the proxy file takes. */
export type EditServices = Settings | Ssh | Sftp | Locks

/** The error for a proxy file that is not edited. */
export const refused = ({ file, server }: ProxyHome) =>
  Refusal.$match({
    Broken: ({ line, reason }) => new ProxyFileUnfit({ file, server: server.name, line, reason }),
    Unfit: ({ line, reason }) => new ProxyFileUnfit({ file, server: server.name, line, reason }),
    Taken: (refusal): RouteTaken | RouteInvalid | ProxyFileUnfit => new RouteTaken(refusal),
    Invalid: ({ reason }) => new RouteInvalid({ reason })
  })

/** What can go wrong with a preview of an edit. */
export type PreviewFailure = Exclude<EditFailure, FileLocked | RemoteFileFailed>

/** What an edit would make of the proxy file, and what it holds now. Nothing is written. */
export const previewProxyEdit = Effect.fn("ProxyFile.preview")(function*(
  decide: (text: string) => Either.Either<RouteEdit, Refusal>
): Effect.fn.Return<
  { readonly home: ProxyHome; readonly before: string; readonly edit: RouteEdit },
  PreviewFailure,
  Settings | Ssh
> {
  const home = yield* proxyHome
  const before = yield* readProxyText(home)
  return { home, before, edit: yield* Either.mapLeft(decide(before), refused(home)) }
})

// Another Berth, or a person, may write between reading and writing: what they wrote is read, and edited, again.
const again = Schedule.intersect(Schedule.jittered(Schedule.exponential("50 millis")), Schedule.recurs(6))

/** What is known of an edit before it is made. */
export interface ForeseenEdit<E> {
  /** What the file held when the edit was decided: it is only read again where it holds something else by now. */
  readonly before: Option.Option<string>
  /** Whether an edit may be made. */
  readonly agreed: (edit: RouteEdit) => Effect.Effect<void, E>
}

/**
 * Edits the proxy file: reads it, decides by a pure function, and writes what that made of it. One edit of a file at a
 * time, in this process and among all Berths.
 */
export const editProxyFile = Effect.fn("ProxyFile.edit")(function*<E = never>(
  decide: (text: string) => Either.Either<RouteEdit, Refusal>,
  foreseen: ForeseenEdit<E> = { before: Option.none(), agreed: () => Effect.void }
): Effect.fn.Return<RouteEdit, EditFailure | E, EditServices> {
  const locks = yield* Locks
  const home = yield* proxyHome
  const known = yield* Ref.make(foreseen.before)
  const attempt = Effect.gen(function*() {
    const text = yield* Ref.getAndSet(known, Option.none())
    const before = Option.isSome(text) ? text.value : yield* readProxyText(home)
    const edit = yield* Either.mapLeft(decide(before), refused(home))
    yield* foreseen.agreed(edit)
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
    locks.withLock(proxyLock(home.server, home.file))
  )
})
