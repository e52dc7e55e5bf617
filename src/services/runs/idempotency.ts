import { Data, Duration } from "effect"
import { createHash } from "node:crypto"
import type { Run } from "../../schema/runs/Run.ts"

/** Key that makes a request idempotent, and the digest of its body. */
export interface Idempotency {
  readonly key: string
  readonly digest: string
}

/** Run that the first request with an idempotency key started, and the digest of that request. */
export interface KeyedRun {
  readonly run: Run
  readonly digest: string
}

/** Period in which a request with the same idempotency key returns the run of the first one. */
export const idempotencyPeriod = Duration.hours(24)

/** The key belongs to the run of another request. */
export class IdempotencyKeyReused extends Data.TaggedError("IdempotencyKeyReused")<{ readonly runId: string }> {
  readonly status = 422
  override get message() {
    return `This Idempotency-Key was used for another request within the last ${
      Duration.toHours(idempotencyPeriod)
    } hours. Nothing was started: use a new key, or send what started run ${this.runId}`
  }
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/**
 * Digests a key and the request that it is for: nothing that a caller chose is kept as it is, and a key says nothing about
 * the runs of another caller.
 */
export const digestIdempotency = (caller: string, key: string, request: string): Idempotency => ({
  key: sha256(JSON.stringify([caller, key])),
  digest: sha256(request)
})
