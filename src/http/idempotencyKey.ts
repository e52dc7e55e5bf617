import type { HttpServerRequest } from "@effect/platform"
import { Effect, Option } from "effect"
import { digestIdempotency, type Idempotency } from "../services/runs/idempotency.ts"
import { ApiError } from "./api/annotations/ApiError.ts"

const longestKey = 200

/** Reads the header `Idempotency-Key`, with the digest of the request that it is for. */
export const readIdempotencyKey = (request: HttpServerRequest.HttpServerRequest, endpoint: string, caller: string) =>
  Effect.gen(function*() {
    const key = request.headers["idempotency-key"]
    if (key === undefined) return Option.none<Idempotency>()
    if (key === "" || key.length > longestKey) {
      return yield* new ApiError({ status: 400, message: `Idempotency-Key must have 1 to ${longestKey} characters` })
    }
    const body = yield* Effect.orElseSucceed(request.text, () => "")
    return Option.some(digestIdempotency(caller, key, `${endpoint}\n${body}`))
  })
