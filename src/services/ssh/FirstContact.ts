import { Context, Effect, Either, Layer, Option, Ref } from "effect"
import type { Scope } from "effect"
import type { ServerAccess } from "../../schema/Server.ts"
import type { KnownHost } from "./client/knownHosts.ts"
import { userKnownHost } from "./client/SshClient.ts"
import { connect } from "./connection.ts"
import type { ConnectError } from "./connection.ts"
import { Connections } from "./Connections.ts"
import { fingerprint, HostKeys, type KeyMismatch } from "./HostKeys.ts"
import { Ssh } from "./Ssh.ts"
import { SshLive } from "./SshLive.ts"

/** The key that a server showed, as a fingerprint, and what is known of it. */
export interface ShownKey {
  /** Its type as the key itself names it: `ssh-ed25519`. */
  readonly type: string
  readonly fingerprint: string
  readonly standing: "known" | "new" | "changed"
  /** The fingerprints that are remembered for the server, where it shows another one. */
  readonly remembered: Option.Option<string>
}

/** Why no log-in was tried: the server's key is new, and nobody has confirmed it. No credential was sent. */
export interface Unconfirmed {
  readonly _tag: "Unconfirmed"
}

/** What became of a first contact. */
export interface Contact {
  /** Nothing where no SSH server was reached. */
  readonly key: Option.Option<ShownKey>
  /** Commands on this one connection, for as long as the scope is open; or why there are none. */
  readonly session: Either.Either<Context.Tag.Service<Ssh>, ConnectError | Unconfirmed>
}

/** How a server that may not be stored yet is met: nothing is remembered of it, and its connection is nobody else's. */
export class FirstContact extends Context.Tag("berth/FirstContact")<FirstContact, {
  /**
   * Meets a server. It is logged in to where its key is remembered, is in the user's known_hosts, or is new and the
   * `confirmed` fingerprint.
   */
  readonly meet: (
    server: ServerAccess,
    confirmed: Option.Option<string>
  ) => Effect.Effect<Contact, never, Scope.Scope>
  /** Insists on a fingerprint that somebody has compared, when a server is connected to for the first time. */
  readonly confirm: Context.Tag.Service<HostKeys>["confirm"]
}>() {}

/**
 * A key that Berth has not seen is known when the user's known_hosts has it, and changed when that has another of its
 * type, or says that it is revoked.
 */
const withUserKnown = (
  standing: KeyMismatch | "known" | "new",
  { keys, revoked }: KnownHost,
  { presented, type }: { readonly type: string; readonly presented: string }
): KeyMismatch | "known" | "new" => {
  if (revoked.includes(presented)) return { remembered: "a key that known_hosts marks as revoked", presented }
  if (standing !== "new" || keys.some((key) => key.fingerprint === presented)) {
    return standing === "new" ? "known" : standing
  }
  const others = keys.filter((key) => key.type === type).map((key) => key.fingerprint)
  return others.length === 0 ? "new" : { remembered: others.join(", "), presented }
}

/** The host keys as they are for a first contact: they see what is shown, and keep nothing. */
const watching = (
  keys: Context.Tag.Service<HostKeys>,
  seen: Ref.Ref<Option.Option<ShownKey>>,
  confirmed: Option.Option<string>
): Context.Tag.Service<HostKeys> =>
  HostKeys.of({
    ...keys,
    check: (host, port, key) =>
      Effect.gen(function*() {
        const presented = fingerprint(key.blob)
        const standing = withUserKnown(yield* keys.standing(host, port, key), yield* userKnownHost(host, port), {
          type: key.type,
          presented
        })
        const isChanged = typeof standing === "object"
        yield* Ref.set(
          seen,
          Option.some({
            type: key.type,
            fingerprint: presented,
            standing: isChanged ? "changed" : standing,
            remembered: isChanged ? Option.some(standing.remembered) : Option.none()
          })
        )
        if (standing !== "new") return standing
        return Option.contains(confirmed, presented) ? "known" : { remembered: "", presented }
      })
  })

/** First contacts over connections of their own. */
export const FirstContactLive: Layer.Layer<FirstContact, never, HostKeys> = Layer.effect(
  FirstContact,
  Effect.map(HostKeys, (keys) =>
    FirstContact.of({
      confirm: keys.confirm,
      meet: Effect.fn("FirstContact.meet")((server, confirmed) =>
        Effect.gen(function*() {
          const seen = yield* Ref.make(Option.none<ShownKey>())
          const connected = yield* connect(server, 1).pipe(
            Effect.provideService(HostKeys, watching(keys, seen, confirmed)),
            Effect.either
          )
          const key = yield* Ref.get(seen)
          if (Either.isLeft(connected)) {
            const isNew = connected.left._tag === "HostKeyChanged" && Option.exists(key, (k) => k.standing === "new")
            const why: ConnectError | Unconfirmed = isNew ? { _tag: "Unconfirmed" } : connected.left
            return { key, session: Either.left(why) }
          }
          const connection = connected.right
          const own = Layer.succeed(Connections, { get: () => Effect.succeed(connection) })
          const session = yield* Effect.provide(Ssh, Layer.provide(Layer.fresh(SshLive), own))
          return { key, session: Either.right(session) }
        })
      )
    }))
)
