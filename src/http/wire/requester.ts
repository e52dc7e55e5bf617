import { HttpServerRequest } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import type { RequestedBy } from "../../schema/runs/Run.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"

/** Client named by the caller. Web pages of other sites cannot forge it, because the guard refuses them. */
const doorOf = Schema.decodeUnknownOption(Schema.Literal("cli", "mcp", "web", "script"))

/** The caller of the current request, and the door that it names. */
export const requester: Effect.Effect<RequestedBy, never, HttpServerRequest.HttpServerRequest> = Effect.gen(
  function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const { name } = yield* CurrentCaller
    return { door: Option.getOrElse(doorOf(headers["berth-door"]), () => "http" as const), name }
  }
)
