import { HttpMiddleware, HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Effect, Option } from "effect"
import { withSecurityHeaders } from "./guard/responseHeaders.ts"
import { handleDefect } from "./wire/errors.ts"

/**
 * Outermost middleware: answers defects that no other middleware caught, such as those of the guard, with the body and
 * headers of every other failure. Without it, the server would answer an empty 500 and log nothing.
 */
export const answerDefects = HttpMiddleware.make((app) =>
  Effect.catchAllCause(app, (cause) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const isAnswered = NodeHttpServerRequest.toServerResponse(request).headersSent
      if (isAnswered || Cause.isInterruptedOnly(cause)) return yield* Effect.failCause(cause)
      return withSecurityHeaders(yield* handleDefect(cause), Option.none())
    }))
)
