import type { Effect, Redacted } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { Authentication, UpstreamCall } from "../upstream/UpstreamCall.ts"
import type { Platform, PlatformCall } from "./Platform.ts"

/** A call to the platform as a vendor's profile words it. */
export interface PlatformRequest extends Pick<UpstreamCall, "method" | "path" | "plain" | "query"> {
  readonly body?: { readonly [field: string]: unknown }
  /** The longest answer that is read, in bytes, where it is another than `usualLimit`. */
  readonly limit?: number
  /** Whether a call changes something although it is a GET. */
  readonly changes?: boolean
  /** What the body holds that must not be seen in an error. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** What a profile is built on: the settings of the request that is under way, and calls with its address and token. */
export interface PlatformConnection {
  /** The body of the answer; `null` when there is none. */
  readonly send: (request: PlatformRequest) => PlatformCall<unknown>
  /** The base of webhook addresses, without a slash at its end. */
  readonly webhookBase: Effect.Effect<string, SettingsError>
  /** The secret that push events are signed with; empty when none is configured. */
  readonly webhookSecret: PlatformCall<Redacted.Redacted>
}

/** What one record, or the variables of one application, take at most: 4 MiB are thousands of variables. */
export const usualLimit = 4 * 1024 * 1024
/** What the list of all applications takes at most. */
export const listLimit = 32 * 1024 * 1024

/** A vendor: how it is called, and the port's operations in its words. */
export interface PlatformProfile {
  /** Where its token goes. */
  readonly authentication: Omit<Authentication, "token">
  /** What the body of its refusal says, in neutral words. */
  readonly refusal: (body: string) => string
  readonly operations: (connection: PlatformConnection) => Platform["Type"]
}
