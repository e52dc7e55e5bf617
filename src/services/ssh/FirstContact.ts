import { Context, Effect, Either, Layer, Option, Ref, type Scope } from "effect"
import { type ServerAccess, ServerUnreachable } from "../../schema/ssh.ts"
import { computeFingerprint, HostKeys, type RouteChange } from "../HostKeys.ts"
import { refuseNewKeys, withUserKnownHosts } from "../sshClient/knownHosts.ts"
import { connectServer, type JumpConnection, toJumpFailure } from "./connect.ts"
import { Connections } from "./Connections.ts"
import type { ConnectError } from "./logIn.ts"
import { type Sftp, SftpLive } from "./Sftp.ts"
import type { Ssh } from "./Ssh.ts"
import { SshLive } from "./SshLive.ts"

/** Fingerprint of the key that a server presented, and its status. */
export interface PresentedKey {
  /** Type named in the key itself: `ssh-ed25519`. */
  readonly type: string
  readonly fingerprint: string
  readonly standing: "known" | "new" | "changed"
  /** Fingerprints stored for the server, if it presented another one. */
  readonly remembered: Option.Option<string>
  /** Present when the server is remembered on other routes than that of the contact. */
  readonly route: Option.Option<RouteChange>
  /** Store of these fingerprints: Berth's own, whose keys can be replaced, or the user's known_hosts. */
  readonly rememberedIn: Option.Option<"berth" | "known_hosts">
}

/** Log-in was not attempted, since the server's key is new and unconfirmed. No credential was sent. */
interface UnconfirmedHostKey {
  readonly _tag: "Unconfirmed"
}

export interface Contact {
  /** Absent if no SSH server was reached. */
  readonly key: Option.Option<PresentedKey>
  /** Commands and file transfer on this connection while the scope is open, or the reason why there are none. */
  readonly session: Either.Either<Context.Context<Sftp | Ssh>, ConnectError | UnconfirmedHostKey>
}

/** Connects to a server that may not be stored: does not store its key, and does not share the connection. */
export class FirstContact extends Context.Tag("berth/FirstContact")<FirstContact, {
  /**
   * Connects to a server. Logs in if its key is stored, is in the user's known_hosts, or is new and matches the
   * `confirmed` fingerprint.
   */
  readonly meet: (
    server: ServerAccess,
    confirmed: Option.Option<string>
  ) => Effect.Effect<Contact, never, Scope.Scope>
  /** Requires a fingerprint that the user has verified, at the first connection to a server. */
  readonly confirm: Context.Tag.Service<HostKeys>["confirm"]
}>() {}

/** Host keys for a first contact: records the presented key and stores nothing. */
const watching = (
  keys: Context.Tag.Service<HostKeys>,
  seen: Ref.Ref<Option.Option<PresentedKey>>,
  confirmed: Option.Option<string>
): Context.Tag.Service<HostKeys> => {
  const known = withUserKnownHosts(keys)
  return HostKeys.of({
    ...known,
    check: (server, key) =>
      Effect.gen(function*() {
        const presented = computeFingerprint(key.blob)
        const standing = yield* known.standing(server, key)
        const isChanged = typeof standing === "object"
        yield* Ref.set(
          seen,
          Option.some({
            type: key.type,
            fingerprint: presented,
            standing: isChanged ? "changed" : standing,
            remembered: isChanged ? Option.some(standing.remembered) : Option.none(),
            route: isChanged ? Option.fromNullable(standing.route) : Option.none(),
            rememberedIn: isChanged
              ? Option.some(standing.file === keys.file ? "berth" : "known_hosts")
              : Option.none()
          })
        )
        if (standing !== "new") return standing
        return Option.contains(confirmed, presented) ? "known" : { remembered: "", presented, file: keys.file }
      })
  })
}

/** Connects to jump hosts, each over the previous one; does not store their keys. */
const ownJump = (
  server: ServerAccess,
  via: ServerAccess,
  keys: Context.Tag.Service<HostKeys>
): Effect.Effect<JumpConnection, ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const before = via.via === undefined ? undefined : yield* ownJump(via, via.via, keys)
    const connection = yield* connectServer(via, 1, before).pipe(Effect.provideService(HostKeys, keys))
    return { name: via.name, connection }
  }).pipe(
    Effect.mapError((error) =>
      error._tag === "HostKeyChanged" && error.remembered === ""
        ? new ServerUnreachable({
          ...error,
          reason:
            `nobody has confirmed its host key ${error.presented} yet: compare it, and connect once with ssh to ` +
            "put it into known_hosts, or store the jump host with berth server add --host-key"
        })
        : error
    ),
    Effect.mapError(toJumpFailure(server, via))
  )

/** Uses a separate connection for each first contact. */
export const FirstContactLive: Layer.Layer<FirstContact, never, HostKeys> = Layer.effect(
  FirstContact,
  Effect.map(HostKeys, (keys) =>
    FirstContact.of({
      confirm: keys.confirm,
      meet: Effect.fn("FirstContact.meet")((server, confirmed) =>
        Effect.gen(function*() {
          const seen = yield* Ref.make(Option.none<PresentedKey>())
          const connected = yield* Effect.gen(function*() {
            const jump = server.via === undefined ? undefined : yield* ownJump(server, server.via, refuseNewKeys(keys))
            return yield* connectServer(server, 1, jump).pipe(
              Effect.provideService(HostKeys, watching(keys, seen, confirmed))
            )
          }).pipe(Effect.either)
          const key = yield* Ref.get(seen)
          if (Either.isLeft(connected)) {
            const isNew = connected.left._tag === "HostKeyChanged" && Option.exists(key, (k) => k.standing === "new")
            const why: ConnectError | UnconfirmedHostKey = isNew ? { _tag: "Unconfirmed" } : connected.left
            return { key, session: Either.left(why) }
          }
          const connection = connected.right
          const own = Layer.succeed(Connections, {
            get: () => Effect.succeed(connection),
            noteFull: () => Effect.void,
            takePlace: () => Effect.void
          })
          const session = yield* Effect.provide(
            Effect.context<Sftp | Ssh>(),
            Layer.provide(Layer.fresh(Layer.merge(SshLive, SftpLive)), own)
          )
          return { key, session: Either.right(session) }
        })
      )
    }))
)
