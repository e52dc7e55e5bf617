import type { Duration, Redacted } from "effect"

/** How a call proves whose it is: the token, in a header, behind the word that the upstream expects before it. */
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
  /** Whether the answer is text and not JSON. */
  readonly plain?: boolean
  /** The longest answer that is read, in bytes: what a call is known to need, and no more. */
  readonly limit: number
  /** What the body of a refusal says, in the upstream's words. */
  readonly refusal: (body: string) => string
  /** For a whole attempt: sending, waiting, and reading the answer to its end. */
  readonly timeout: Duration.Duration
  /** Whether the call may be sent again after a failed connection, a 429 or a 5xx. Only what changes nothing may be. */
  readonly idempotent: boolean
  /** What must not be seen in an error, beside the token, the secrets in use and what fields of the body are named for. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** The JSON of an answer, and the status it came with. An empty body is `null`. */
export interface UpstreamAnswer {
  readonly status: number
  readonly body: unknown
}
