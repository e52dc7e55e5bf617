import { Context, type Effect, Schema } from "effect"
import type { MachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import type { HostKey } from "./hostKey.ts"
import type { KeyMismatch } from "./KeyMismatch.ts"

/** The remembered keys could not be read or written. */
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
  /** The types remembered for a server, for asking it for one of these first. */
  readonly knownTypes: (server: MachineAddress) => Effect.Effect<ReadonlyArray<string>, HostKeysUnavailable>
  /** Checks the key of a server without storing it. */
  readonly standing: (
    server: MachineAddress,
    key: HostKey
  ) => Effect.Effect<KeyMismatch | "known" | "new", HostKeysUnavailable>
  /**
   * Insists on this fingerprint at the first connection to a server, which the caller has compared. Where other keys are
   * remembered, it takes their place if `replaces` is one of them, and is a mismatch otherwise.
   */
  readonly confirm: (
    server: MachineAddress,
    fingerprint: string,
    replaces?: string
  ) => Effect.Effect<KeyMismatch | "confirmed", HostKeysUnavailable>
  /**
   * Remembers the first key of a server, which has to be the confirmed one if there is one; answers a mismatch when it
   * shows another than the remembered ones.
   */
  readonly check: (
    server: MachineAddress,
    key: HostKey
  ) => Effect.Effect<KeyMismatch | "known" | "remembered", HostKeysUnavailable>
}>() {}
