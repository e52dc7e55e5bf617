import type { Effect, Redacted } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { Authentication, UpstreamCall } from "../upstream/UpstreamCall.ts"
import type { Platform, PlatformCall } from "./Platform.ts"

/** A call to the platform as a vendor's profile words it. */
export interface PlatformRequest extends Pick<UpstreamCall, "method" | "path" | "plain" | "query"> {
  readonly body?: { readonly [field: string]: unknown }
  /** The longest answer that is read, in bytes, where it is another than `usualLimit`. */
  readonly limit?: number
  /** True for a GET that changes something. */
  readonly changes?: boolean
  /** Parts of the body to redact in errors. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Base of a profile: settings of the current request, and calls with its address and token. */
export interface PlatformConnection {
  /** The body of the answer; `null` when there is none. */
  readonly send: (request: PlatformRequest) => PlatformCall<unknown>
  /** The base of webhook addresses, without a slash at its end. */
  readonly webhookBase: Effect.Effect<string, SettingsError>
  /** The secret that push events are signed with; empty when none is configured. */
  readonly webhookSecret: PlatformCall<Redacted.Redacted>
}

/** Limit for one record or the variables of one application, in bytes. */
export const usualLimit = 4 * 1024 * 1024
/** Limit for the list of all applications, in bytes. */
export const listLimit = 32 * 1024 * 1024

/** A vendor: how it is called, and the port's operations in its words. */
export interface PlatformProfile {
  /** Header of its token. */
  readonly authentication: Omit<Authentication, "token">
  /** Describes the body of a refusal, in neutral words. */
  readonly refusal: (body: string) => string
  readonly operations: (connection: PlatformConnection) => Platform["Type"]
}
