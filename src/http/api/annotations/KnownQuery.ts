import { HttpApiMiddleware } from "@effect/platform"
import { ApiErrorFromBody } from "./ApiError.ts"

/** Refuses query parameters where an endpoint takes none. */
export class KnownQuery extends HttpApiMiddleware.Tag<KnownQuery>()("berth/KnownQuery", {
  failure: ApiErrorFromBody
}) {}
