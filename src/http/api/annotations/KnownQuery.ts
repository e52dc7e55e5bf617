import { HttpApiMiddleware } from "@effect/platform"
import { ApiErrorFromBody } from "./ApiError.ts"

/** Refuses unknown or repeated query parameters, and bodies of requests to endpoints that take none. */
export class KnownQuery extends HttpApiMiddleware.Tag<KnownQuery>()("berth/KnownQuery", {
  failure: ApiErrorFromBody
}) {}
