import type { Duration, Redacted } from "effect"

/** Authentication of a call: the token and its scheme in a header. */
export interface Authentication {
  readonly header: string
  /** `Bearer`, for example; empty if the header contains the token alone. */
  readonly scheme: string
  readonly token: Redacted.Redacted
}

/** A call to an upstream's JSON API. */
export interface UpstreamCall {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  /** Address to which the path is appended. */
  readonly base: string
  /** Segments of the path, unescaped. */
  readonly path: ReadonlyArray<string>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly authentication: Authentication
  readonly body?: unknown
  /** The response is text, not JSON. */
  readonly plain?: boolean
  /** Maximum size of the response in bytes: no more than the call is known to need. */
  readonly limit: number
  /** Extracts the upstream's message from the body of a refusal. */
  readonly refusal: (body: string) => string
  /** Timeout of a whole attempt: sending, waiting, and reading the complete response. */
  readonly timeout: Duration.Duration
  /** May be retried after a failed connection, a 429 or a 5xx: only for calls that change nothing. */
  readonly idempotent: boolean
  /** Further secrets to remove from errors, besides the token, the secrets in use and credential fields of the body. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** JSON of a response, and its status. An empty body is `null`. */
export interface UpstreamAnswer {
  readonly status: number
  readonly body: unknown
}
