import type { HttpServerRequest } from "@effect/platform"
import { Effect, Predicate } from "effect"
import { formatPath } from "../schema/words/describeIssues.ts"
import { formatList } from "../schema/words/expected.ts"
import { ApiError } from "./api/annotations/ApiError.ts"

const mostTold = 10

const refusalOf = (body: unknown): string | undefined => {
  if (body === null || body === "" || (Array.isArray(body) && body.length === 0)) return undefined
  if (!Predicate.isRecord(body)) return "This endpoint takes no request body"
  const names = Object.keys(body).slice(0, mostTold).map((name) => formatPath([name]))
  if (names.length === 0) return undefined
  const are = names.length === 1 ? "is not a known field" : "are not known fields"
  return `${formatList(names, "and")} ${are}. This endpoint takes none`
}

const refused = (message: string) => new ApiError({ status: 400, message })

/**
 * Refuses a non-empty body on an endpoint that takes none, because its fields, such as a dry run, would be ignored.
 * Empty bodies and objects are accepted.
 */
export const refuseBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void, ApiError> =>
  Effect.gen(function*() {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers
    if (encoding === undefined && Number(length) === 0) return
    const body = yield* Effect.mapError(request.json, (failure: unknown) =>
      failure instanceof ApiError
        ? failure
        : refused("The request body cannot be read: it did not arrive whole, or is not text"))
    const message = refusalOf(body)
    if (message !== undefined) return yield* refused(message)
  })
