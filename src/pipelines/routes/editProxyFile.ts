import { Effect, Either, Schedule } from "effect"
import { ProxyFileBusy, type ProxyFileError, ProxyFileUnfit, RouteInvalid, RouteTaken } from "../../schema/Route.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { RemoteFileFailed, SshError } from "../../schema/Ssh.ts"
import { proxyLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Sftp } from "../../services/ssh/Sftp.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { readProxyText, writeProxyText } from "./proxyFile.ts"
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

const refused = ({ file, server }: ProxyHome) =>
  Refusal.$match({
    Broken: ({ line, reason }) => new ProxyFileUnfit({ file, server: server.name, line, reason }),
    Unfit: ({ line, reason }) => new ProxyFileUnfit({ file, server: server.name, line, reason }),
    Taken: (refusal): RouteTaken | RouteInvalid | ProxyFileUnfit => new RouteTaken(refusal),
    Invalid: ({ reason }) => new RouteInvalid({ reason })
  })

/** What an edit would make of the proxy file, and what it holds now. Nothing is written. */
export const previewProxyEdit = Effect.fn("ProxyFile.preview")(function*(
  decide: (text: string) => Either.Either<RouteEdit, Refusal>
): Effect.fn.Return<
  { readonly before: string; readonly edit: RouteEdit },
  Exclude<EditFailure, FileLocked | RemoteFileFailed>,
  Settings | Ssh
> {
  const home = yield* proxyHome
  const before = yield* readProxyText(home)
  return { before, edit: yield* Either.mapLeft(decide(before), refused(home)) }
})

// Another Berth, or a person, may write between reading and writing: what they wrote is read, and edited, again.
const again = Schedule.intersect(Schedule.jittered(Schedule.exponential("50 millis")), Schedule.recurs(6))

/**
 * Edits the proxy file: reads it, decides by a pure function, and writes what that made of it. One edit of a file at a
 * time, in this process and among all Berths.
 */
export const editProxyFile = Effect.fn("ProxyFile.edit")(function*(
  decide: (text: string) => Either.Either<RouteEdit, Refusal>
): Effect.fn.Return<RouteEdit, EditFailure, EditServices> {
  const locks = yield* Locks
  const home = yield* proxyHome
  const attempt = Effect.gen(function*() {
    const before = yield* readProxyText(home)
    const edit = yield* Either.mapLeft(decide(before), refused(home))
    if (RouteEdit.$is("Edited")(edit)) yield* writeProxyText(home, { before, after: edit.text })
    return edit
  })
  return yield* attempt.pipe(
    Effect.retry({ while: (error) => error._tag === "ProxyFileChanged", schedule: again }),
    Effect.catchTag("ProxyFileChanged", () =>
      new ProxyFileBusy({
        file: home.file,
        server: home.server.name,
        reason: "somebody else keeps changing it"
      })),
    locks.withLock(proxyLock(home.server, home.file))
  )
})
