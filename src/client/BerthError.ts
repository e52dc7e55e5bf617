import type { HttpApiError, HttpClientError, HttpClientResponse } from "@effect/platform"
import { Data, Effect, Option, ParseResult, Predicate, Schema } from "effect"
import { version } from "../schema/session.ts"
import { describeParseError } from "../schema/validation.ts"

/**
 * Failure of a call to the service.
 *
 * `refused`: the service answered with a failure; `status` and `message` are its own. `unreachable`: no answer, or the
 * connection broke. `unexpected`: the answer is not from this version of Berth, or the request could not be sent.
 */
export class BerthError extends Data.TaggedError("BerthError")<{
  readonly reason: "refused" | "unreachable" | "unexpected"
  readonly message: string
  /** HTTP status of the answer; absent without an answer. */
  readonly status?: number
}> {}

/** The service answered with a failure. */
export const makeRefusal = (status: number, message: string): BerthError =>
  new BerthError({ reason: "refused", status, message })

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection broke",
  EPIPE: "the connection broke",
  UND_ERR_SOCKET: "the connection broke",
  ENOTFOUND: "its host name is not known",
  EAI_AGAIN: "its host name cannot be looked up now",
  EHOSTUNREACH: "no route to this host",
  ENETUNREACH: "no route to this network",
  ETIMEDOUT: "it did not answer in time",
  UND_ERR_CONNECT_TIMEOUT: "it did not answer in time",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by an authority that this machine does not know",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by an authority that this machine does not know",
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  EPROTO: "it does not speak TLS there: try http:// in place of https://",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS there: try http:// in place of https://"
}

/** Causes of a failed request, outermost first. */
const causesOf = (cause: unknown, depth = 0): ReadonlyArray<unknown> =>
  depth > 5 || Predicate.isNullable(cause)
    ? []
    : [cause, ...(Predicate.hasProperty(cause, "cause") ? causesOf(cause.cause, depth + 1) : [])]

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const reasonIn = (cause: unknown): string => {
  const causes = causesOf(cause)
  const codes = causes.flatMap((each) => Predicate.hasProperty(each, "code") ? [String(each.code)] : [])
  const known = codes.map((code) => words[code]).find(Predicate.isNotUndefined)
  return known ?? messageOf(causes.at(-1) ?? "no answer").slice(0, 200)
}

/** Failure to reach a service at an address; the message says what to check. */
export const makeUnreachable = (where: string, cause: unknown): BerthError =>
  new BerthError({
    reason: "unreachable",
    message: `Cannot reach Berth at ${where}: ${reasonIn(cause)}. Check the address, and that the service runs there`
  })

const isOther = (where: string) =>
  `Check that Berth answers at ${where}, and that it is version ${version} like this client`

/** Failure of an answer that this version of Berth would not give. */
export const makeUnexpectedAnswer = (where: string, what: string): BerthError =>
  new BerthError({ reason: "unexpected", message: `${what}. ${isOther(where)}` })

const decodeError = Schema.decodeOption(Schema.parseJson(Schema.Struct({ error: Schema.String })))

/** Error message of a failed answer's body; none unless the body has the format of Berth's errors. */
export const readErrorMessage = (body: string): Option.Option<string> =>
  Option.map(decodeError(body), ({ error }) => error)

/** Fails with the error of a failed answer. */
export const readRefusal = (
  where: string,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<never, BerthError> =>
  Effect.flatMap(
    Effect.mapError(response.text, (error) => makeUnreachable(where, error)),
    (body) =>
      Option.match(readErrorMessage(body), {
        onSome: (message) => makeRefusal(response.status, message),
        onNone: () =>
          makeUnexpectedAnswer(
            where,
            `${where} answered with status ${response.status}, and not in the way that Berth does`
          )
      })
  )

/** Errors of a call before they become a `BerthError`. */
export type CallFailure =
  | BerthError
  | HttpClientError.HttpClientError
  | ParseResult.ParseError
  | HttpApiError.HttpApiDecodeError
  | { readonly _tag: "ApiError"; readonly status: number; readonly message: string }

/** Turns a response that does not match its schema into `unexpected`. Parse errors of requests stay as they are. */
export const readAs = (where: string) => (answer: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> =>
  Effect.catchIf(answer, ParseResult.isParseError, (failure) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(failure)
    const field = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.map(String).join(".")}`
    return makeUnexpectedAnswer(where, `The answer does not have the expected shape${field}`)
  })

/** Converts any failure of a call to a `BerthError`. */
export const toBerthError = (where: string) => (failure: CallFailure): BerthError => {
  switch (failure._tag) {
    case "BerthError":
      return failure
    case "ApiError":
      return makeRefusal(failure.status, failure.message)
    case "HttpApiDecodeError":
      return makeRefusal(400, failure.message)
    case "RequestError":
      return failure.reason === "Transport"
        ? makeUnreachable(where, failure)
        : makeUnexpectedAnswer(where, `The request cannot be sent: ${messageOf(failure.cause ?? failure)}`)
    case "ResponseError":
      return makeUnexpectedAnswer(
        where,
        `The answer of ${where} cannot be read: ${messageOf(failure.cause ?? failure)}`
      )
    // `readAs` handles parse errors of answers. This one is the request's own, which was not sent.
    case "ParseError":
      return makeRefusal(400, describeParseError(failure, { whole: "The request", part: "field" }))
  }
}
