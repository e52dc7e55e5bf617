import { HttpBody, HttpServerResponse } from "@effect/platform"
import { Effect, Stream } from "effect"

/** Time between two judgements of the caller of a streamed answer. */
const judgedEvery = "2 seconds"

/**
 * Ends a streamed answer, as if nothing else would come, soon after its caller may no longer have it. A client that goes
 * reconnects gets the reason as its refusal.
 */
export const whileAllowed = (
  response: HttpServerResponse.HttpServerResponse,
  isAllowed: Effect.Effect<boolean>
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Stream") return response
  const refused = Effect.repeat(Effect.delay(isAllowed, judgedEvery), { while: (allowed) => allowed })
  return HttpServerResponse.setBody(
    response,
    HttpBody.stream(Stream.interruptWhen(body.stream, refused), body.contentType, body.contentLength)
  )
}
