import { Data, Effect, Schema } from "effect"

/** A failure as a caller sees it: a status, and one sentence. */
export class ApiError extends Data.TaggedError("ApiError")<{
  readonly status: number
  readonly message: string
  /** Extra response headers, such as `allow` for a 405 and `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
}> {}

/** The body of every failure. */
export const ErrorBody = Schema.Struct({
  error: Schema.String.annotations({ description: "Failure, its place, and a remedy." })
}).annotations({ identifier: "Error" })

/** `ApiError` on the wire. The status travels as the status of the response. */
export const ApiErrorFromBody = Schema.transform(ErrorBody, Schema.instanceOf(ApiError), {
  strict: true,
  decode: ({ error }) => new ApiError({ status: 500, message: error }),
  encode: ({ message }) => ({ error: message })
}).annotations({ identifier: "Error" })

/** Domain error with its own status and message. */
export interface StatusError {
  readonly status: number
  readonly message: string
  /** Seconds after which a retry is useful. */
  readonly retryAfter?: number
}

/** Answer with status 200 and an error: some endpoints have always reported a missing field or file like this. */
export const makeErrorBody = ({ message }: { readonly message: string }) => Effect.succeed({ error: message })

/** Converts the domain errors of a handler to the error that the contract declares. */
export const orApiError = <A, E extends StatusError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, ApiError, R> =>
  Effect.mapError(effect, ({ message, retryAfter, status }) =>
    new ApiError({
      status,
      message,
      ...retryAfter === undefined ? {} : { headers: { "retry-after": String(retryAfter) } }
    }))
