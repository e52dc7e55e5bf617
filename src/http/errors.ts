import { HttpApiBuilder, HttpApiError, HttpServerError, HttpServerResponse } from "@effect/platform"
import { Cause, Effect, Option } from "effect"
import { withoutSecrets } from "../services/secrets/secretsInUse.ts"
import { Settings } from "../services/settings/Settings.ts"
import { ApiError } from "./api/ApiError.ts"

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim()

/** Names the field that does not fit: `serverId: is missing`. */
const fromIssues = ({ issues }: HttpApiError.HttpApiDecodeError): ApiError => {
  if (issues.some(({ message, path }) => path.length === 0 && message.endsWith("actual null"))) {
    return new ApiError({ status: 400, message: "A JSON body is required" })
  }
  // An optional field that does not fit is also said not to be absent: no help to anybody.
  const telling = issues.filter(({ message }) => !message.startsWith("Expected undefined"))
  const sentences = (telling.length === 0 ? issues : telling).slice(0, 5).map(({ message, path }) => {
    const field = path.map(String).join(".")
    return field === "" ? `Invalid request: ${oneLine(message)}` : `${field}: ${oneLine(message)}`
  })
  return new ApiError({ status: 400, message: sentences.join("; ").slice(0, 2_000) })
}

const known = (failure: unknown): Option.Option<ApiError> => {
  if (failure instanceof ApiError) return Option.some(failure)
  if (failure instanceof HttpApiError.HttpApiDecodeError) return Option.some(fromIssues(failure))
  if (failure instanceof HttpServerError.RouteNotFound) {
    const { method, url } = failure.request
    const message = `No such endpoint: ${method} ${url.split("?")[0]}. See /reference for what there is`
    return Option.some(new ApiError({ status: 404, message }))
  }
  if (failure instanceof HttpServerError.RequestError) {
    return Option.some(new ApiError({ status: 400, message: "The request body is not valid JSON" }))
  }
  return Option.none()
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
        onSome: ({ message, status }) =>
          Effect.map(shown(message), (message) => errorResponse(new ApiError({ status, message }))),
        onNone: () =>
          Effect.flatMap(shown(Cause.pretty(cause, { renderErrorCause: true })), (words) =>
            Effect.logError(`A request failed in a way that was not foreseen: ${words}`)).pipe(
              Effect.as(errorResponse(new ApiError({ status: 500, message: "Internal error: see the service's log" })))
            )
      })
    })
}))
