import type { Effect, Redacted } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { Authentication, UpstreamCall } from "../upstream/UpstreamCall.ts"
import type { Platform, PlatformCall } from "./Platform.ts"

/** A call to the platform, in the terms of a vendor's profile. */
export interface PlatformRequest extends Pick<UpstreamCall, "method" | "path" | "plain" | "query"> {
  readonly body?: { readonly [field: string]: unknown }
  /** Maximum size of the response in bytes; `usualLimit` when absent. */
  readonly limit?: number
  /** True for a GET that changes something. */
  readonly changes?: boolean
  /** Parts of the body to redact in errors. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Connection of a profile: settings of the current request, and calls with its address and token. */
export interface PlatformConnection {
  /** Sends a request and returns the body of the response; `null` when the body is empty. */
  readonly send: (request: PlatformRequest) => PlatformCall<unknown>
  /** Base of webhook addresses, without a trailing slash. */
  readonly webhookBase: Effect.Effect<string, SettingsError>
  /** Secret that signs push events; empty when none is configured. */
  readonly webhookSecret: PlatformCall<Redacted.Redacted>
}

/** Limit for one record or the variables of one application, in bytes. */
export const usualLimit = 4 * 1024 * 1024
/** Limit for the list of all applications, in bytes. */
export const listLimit = 32 * 1024 * 1024

/** A vendor: its authentication, its errors, and the port's operations in its API. */
export interface PlatformProfile {
  /** Header that carries its token. */
  readonly authentication: Omit<Authentication, "token">
  /** Describes the body of a refusal, in neutral terms. */
  readonly refusal: (body: string) => string
  readonly operations: (connection: PlatformConnection) => Platform["Type"]
}
