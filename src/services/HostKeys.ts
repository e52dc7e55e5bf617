import { Context, Effect, Predicate, Schema } from "effect"
import { createHash } from "node:crypto"
import type { MachineAddress } from "../schema/servers.ts"

/** Public key of a server, in wire format. */
export interface HostKey {
  /** Type named in the key itself: `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`. */
  readonly type: string
  readonly blob: Uint8Array
}

/** A key's fingerprint as OpenSSH prints it: `SHA256:` and base64 without padding. */
export const computeFingerprint = (blob: Uint8Array): string =>
  `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/(?<!=)=+$/, "")}`

/** Reads a key's type from its wire form: a length of four bytes, then the name. */
export const parseHostKey = (blob: Uint8Array): HostKey => {
  const bytes = Buffer.from(blob)
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE(0)
  return { type: bytes.subarray(4, 4 + length).toString("latin1"), blob: bytes }
}

/** The route that is stored for a server and the one that a connection takes: `directly`, or `through …`. */
export interface RouteChange {
  readonly remembered: string
  readonly now: string
}

/** The presented key is not one of the stored keys, both as fingerprints, or is not stored for the route. */
export interface OtherKey {
  readonly remembered: string
  readonly presented: string
  /** Present when keys of the server are stored for other routes, whatever key it presents on this one. */
  readonly route?: RouteChange
}

const isOther = (verdict: unknown): verdict is OtherKey => Predicate.isObject(verdict)

/** A refused key, and the file of the stored keys. */
export interface KeyMismatch extends OtherKey {
  readonly file: string
  /** True when the file marks the presented key as revoked. */
  readonly isRevoked?: boolean
  /** True when the settings require another key. */
  readonly isRequired?: boolean
  /** True when the file is not Berth's own: the user's known_hosts, or the variable in its place. */
  readonly isUsers?: boolean
}

/** Adds the file of the stored keys to a mismatch. */
export const withKeyFile = (file: string) => <A>(verdict: OtherKey | A): KeyMismatch | A =>
  isOther(verdict) ? { ...verdict, file } : verdict

/** Known host keys cannot be read or written. */
export class HostKeysUnavailable extends Schema.TaggedError<HostKeysUnavailable>()("HostKeysUnavailable", {
  file: Schema.String,
  reason: Schema.String
}) {
  readonly status = 500
  override get message() {
    return `The host keys in ${this.file} could not be used: ${this.reason}`
  }
}

/**
 * Known host keys, trusted on first use: afterwards a server has to present a stored key. Keys belong to an address and
 * the route to it, not to a stored server.
 */
export class HostKeys extends Context.Tag("berth/HostKeys")<HostKeys, {
  /** The file of known host keys, for error messages. */
  readonly file: string
  /** Types of the keys stored for a server, which are negotiated first. */
  readonly knownTypes: (server: MachineAddress) => Effect.Effect<ReadonlyArray<string>, HostKeysUnavailable>
  /** Checks the key of a server without storing it. */
  readonly standing: (
    server: MachineAddress,
    key: HostKey
  ) => Effect.Effect<KeyMismatch | "known" | "new", HostKeysUnavailable>
  /**
   * Requires this fingerprint, which the caller has verified, at the first connection to a server. If other keys are
   * stored, the fingerprint replaces them if `replaces` is one of them; otherwise it is a mismatch. So it is for a server
   * that is known on other routes.
   * @param addsRoute false refuses another route than the stored ones; true unless given
   */
  readonly confirm: (
    server: MachineAddress,
    fingerprint: string,
    replaces?: string,
    addsRoute?: boolean
  ) => Effect.Effect<KeyMismatch | "confirmed", HostKeysUnavailable>
  /**
   * Stores the first key of a server, which must match the confirmed fingerprint, if any. Returns a mismatch when the
   * server presents a key other than the stored ones, or is reached on another route than the stored ones.
   */
  readonly check: (
    server: MachineAddress,
    key: HostKey
  ) => Effect.Effect<KeyMismatch | "known" | "remembered", HostKeysUnavailable>
}>() {}

/**
 * Adds the keys that the settings require of servers. Such a key identifies the machine on every route, so that it goes
 * before what is stored, and nothing is stored for it.
 */
export const withRequiredKeys = (keys: Context.Tag.Service<HostKeys>): Context.Tag.Service<HostKeys> => {
  const judge = ({ hostKey: remembered }: MachineAddress, key: HostKey): KeyMismatch | "known" | undefined => {
    if (remembered === undefined) return undefined
    const presented = computeFingerprint(key.blob)
    return presented === remembered ? "known" : { remembered, presented, file: keys.file, isRequired: true }
  }
  const orStored =
    <A, E>(stored: (server: MachineAddress, key: HostKey) => Effect.Effect<A, E>) =>
    (server: MachineAddress, key: HostKey): Effect.Effect<A | KeyMismatch | "known", E> => {
      const judged = judge(server, key)
      return judged === undefined ? stored(server, key) : Effect.succeed(judged)
    }
  return HostKeys.of({ ...keys, standing: orStored(keys.standing), check: orStored(keys.check) })
}
