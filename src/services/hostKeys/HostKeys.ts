import { Context, type Effect, Schema } from "effect"
import type { MachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import type { HostKey } from "./hostKey.ts"
import type { KeyMismatch } from "./KeyMismatch.ts"

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
