import { Data, Effect, Schema } from "effect"

/** A failure as a caller sees it: a status, and one sentence. */
export class ApiError extends Data.TaggedError("ApiError")<{
  readonly status: number
  readonly message: string
  /** Extra response headers: `allow` with a 405. */
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

/** A domain error: it knows its own status and message. */
export interface StatusError {
  readonly status: number
  readonly message: string
  /** After how many seconds it is worth asking again. */
  readonly retryAfter?: number
}

/** An answer with status 200 that says what is wrong: some endpoints have always told a missing field or file so. */
export const makeErrorBody = ({ message }: { readonly message: string }) => Effect.succeed({ error: message })

/** Turns the domain errors of a handler into the one error that the contract declares. */
export const orApiError = <A, E extends StatusError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, ApiError, R> =>
  Effect.mapError(effect, ({ message, retryAfter, status }) =>
    new ApiError({
      status,
      message,
      ...retryAfter === undefined ? {} : { headers: { "retry-after": String(retryAfter) } }
    }))
