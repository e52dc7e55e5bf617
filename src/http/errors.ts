import { HttpApiBuilder, HttpApiError, HttpServerError, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Cause, Effect, Either, Option } from "effect"
import { cut } from "../schema/quoted.ts"
import { parseJson } from "../services/foreign/json.ts"
import { withoutSecrets } from "../services/secrets/secretsInUse.ts"
import { Settings } from "../services/settings/Settings.ts"
import { ApiError } from "./api/ApiError.ts"

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim()

type Failure = Effect.Effect<ApiError, never, HttpServerRequest.HttpServerRequest>

const badRequest = (message: string) => new ApiError({ status: 400, message })

/** What a schema refuses it says itself, in whole sentences. */
const fromIssues = ({ issues }: HttpApiError.HttpApiDecodeError): ApiError =>
  badRequest(issues.slice(0, 5).map(({ message }) => oneLine(message)).join("; ").slice(0, 2_000))

// The guard may have read the body already: it is asked of the request that stands in for it.
const fromBody: Failure = Effect.match(Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ text }) => text), {
  onFailure: () => badRequest("The request body cannot be read: it did not arrive whole, or is not text"),
  onSuccess: (text) =>
    badRequest(Either.match(parseJson(text), {
      onLeft: ({ column, line, reason }) =>
        `The request body is not valid JSON: line ${line}, column ${column}: ${reason}`,
      onRight: () => "The request body is not valid JSON"
    }))
})

const known = (failure: unknown): Option.Option<Failure> => {
  if (failure instanceof ApiError) return Option.some(Effect.succeed(failure))
  if (failure instanceof HttpApiError.HttpApiDecodeError) return Option.some(Effect.succeed(fromIssues(failure)))
  if (failure instanceof HttpServerError.RouteNotFound) {
    const { method, url } = failure.request
    const message = `No such endpoint: ${method} ${cut(url.split("?")[0] ?? "")}. See /reference for what there is`
    return Option.some(Effect.succeed(new ApiError({ status: 404, message })))
  }
  return failure instanceof HttpServerError.RequestError ? Option.some(fromBody) : Option.none()
}

/** The response to a failure: `{error}` and its status. */
export const errorResponse = ({ message, status }: ApiError): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson({ error: message }, { status })

/**
 * Renders every failure as `{error}` with its own status. What nobody foresaw is logged whole and answered as a plain
 * 500, so that nothing internal leaves the service.
 */
export const ErrorsLive = HttpApiBuilder.middleware(Effect.gen(function*() {
  const settings = yield* Settings
  const shown = (text: string) => Effect.provideService(withoutSecrets(text), Settings, settings)
  return (app) =>
    Effect.catchAllCause(app, (cause) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
      return Option.match(known(Cause.squash(cause)), {
        onSome: (failure) =>
          Effect.flatMap(failure, ({ message, status }) =>
            Effect.map(shown(message), (words) =>
              errorResponse(new ApiError({ status, message: words })))),
        onNone: () =>
          Effect.flatMap(shown(Cause.pretty(cause, { renderErrorCause: true })), (words) =>
            Effect.logError(`A request failed in a way that was not foreseen: ${words}`)).pipe(
              Effect.as(errorResponse(new ApiError({ status: 500, message: "Internal error: see the service's log" })))
            )
      })
    })
}))
