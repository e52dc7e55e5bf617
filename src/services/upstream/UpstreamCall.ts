import type { Duration, Redacted } from "effect"

/** Authentication of a call: the token and its scheme in a header. */
export interface Authentication {
  readonly header: string
  /** `Bearer`, for example; nothing where the token stands alone. */
  readonly scheme: string
  readonly token: Redacted.Redacted
}

/** A call to an upstream's JSON API. */
export interface UpstreamCall {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** The address that the path is appended to. */
  readonly base: string
  /** The segments of the path, not yet escaped. */
  readonly path: ReadonlyArray<string>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly authentication: Authentication
  readonly body?: unknown
  /** The response is text, not JSON. */
  readonly plain?: boolean
  /** The longest answer that is read, in bytes: what a call is known to need, and no more. */
  readonly limit: number
  /** Extracts the upstream's message from the body of a refusal. */
  readonly refusal: (body: string) => string
  /** For a whole attempt: sending, waiting, and reading the answer to its end. */
  readonly timeout: Duration.Duration
  /** May be retried after a failed connection, a 429 or a 5xx: only for calls that change nothing. */
  readonly idempotent: boolean
  /** Further secrets to remove from errors, beside the token, the secrets in use and credential fields of the body. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** The JSON of an answer, and the status it came with. An empty body is `null`. */
export interface UpstreamAnswer {
  readonly status: number
  readonly body: unknown
}
