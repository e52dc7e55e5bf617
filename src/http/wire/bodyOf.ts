import { HttpApiError, type HttpServerRequest } from "@effect/platform"
import { Effect, ParseResult, Schema } from "effect"
import type { ApiError } from "../api/annotations/ApiError.ts"
import { fromIssues } from "./errors.ts"

/** Reads the body of a request whose handler writes its own answer: such a handler is handed no payload. */
export const bodyOf = <A, I>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>
): Effect.Effect<A, ApiError> =>
  request.json.pipe(
    // A body that cannot be read at all is told further out, for all endpoints.
    Effect.orDie,
    Effect.flatMap(Schema.decodeUnknown(schema)),
    Effect.catchIf(ParseResult.isParseError, HttpApiError.HttpApiDecodeError.refailParseError),
    Effect.mapError(fromIssues)
  )
