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
 * Refuses a request to an endpoint without a body that asks for something in one all the same: what it asks for, a dry
 * run for instance, would be ignored. An empty body or object is let pass.
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
