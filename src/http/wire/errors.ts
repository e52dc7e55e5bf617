import { HttpApiBuilder, HttpApiError, HttpServerError, HttpServerResponse } from "@effect/platform"
import { Cause, Effect, Option } from "effect"
import { withShortWords } from "../../schema/words/quoted.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { redactText } from "../../services/secrets/shownText.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { ApiError } from "../api/annotations/ApiError.ts"
import { makeEndpointNotFound } from "./makeEndpointNotFound.ts"

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim()

const badRequest = (message: string) => new ApiError({ status: 400, message })

/** Refusal of a request that does not match its schema. Schema messages are whole sentences already. */
export const fromIssues = ({ issues }: HttpApiError.HttpApiDecodeError): ApiError =>
  badRequest(issues.slice(0, 5).map(({ message }) => oneLine(message)).join("; ").slice(0, 2_000))

const known = (failure: unknown): Option.Option<ApiError> => {
  if (failure instanceof ApiError) return Option.some(failure)
  if (failure instanceof HttpApiError.HttpApiDecodeError) return Option.some(fromIssues(failure))
  if (failure instanceof HttpServerError.RouteNotFound) return Option.some(makeEndpointNotFound(failure.request))
  return failure instanceof HttpServerError.RequestError
    ? Option.some(badRequest("The request body cannot be read: it did not arrive whole, or is not text"))
    : Option.none()
}

/** Response to a failure: `{error}` with its status. */
export const buildErrorResponse = (
  { headers = {}, message, status }: Pick<ApiError, "headers" | "message" | "status">
): HttpServerResponse.HttpServerResponse => HttpServerResponse.unsafeJson({ error: message }, { status, headers })

const stackOf = (text: string) => text.split("\n").filter((line) => /^\s+at /.test(line)).join("\n")

/**
 * Logs a defect in full and answers a plain 500, so that no internals leave the service. If secrets cannot be removed
 * because the settings are unreadable, only the stack is logged.
 */
export const handleDefect = (
  cause: Cause.Cause<unknown>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Settings> =>
  Effect.gen(function*() {
    const words = Cause.pretty(cause, { renderErrorCause: true })
    const [first = "", ...lines] = yield* scrubSecrets(words).pipe(
      Effect.catchAllCause(() => Effect.succeed(`its message may hold secrets\n${stackOf(words)}`)),
      Effect.map((text) => text.split("\n"))
    )
    yield* Effect.logError(`A request failed in a way that was not foreseen: ${first}`, ...lines)
    return buildErrorResponse({ status: 500, message: "Internal error: see the service's log" })
  })

/** Renders expected failures as `{error}` with their own status, and defects with `unforeseen`. */
export const ErrorsLive = HttpApiBuilder.middleware(Effect.gen(function*() {
  const settings = yield* Settings
  const shown = (text: string) => Effect.map(settings.secrets, (secrets) => redactText(text, secrets))
  return (app) =>
    Effect.catchAllCause(app, (cause) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
      return Option.match(known(Cause.squash(cause)), {
        onSome: (failure) =>
          Effect.map(shown(failure.message), (message) =>
            buildErrorResponse({ ...failure, message: withShortWords(message) })),
        onNone: () =>
          Effect.provideService(handleDefect(cause), Settings, settings)
      })
    })
}))
