import { Duration, Effect, Equal, Hash, RcMap, Ref, type Scope } from "effect"
import type { UpstreamFailure } from "../../schema/basics/Upstream.ts"
import type { UpstreamAnswer, UpstreamCall } from "./UpstreamCall.ts"

type Send = (call: UpstreamCall) => Effect.Effect<UpstreamAnswer, UpstreamFailure>

/** Cache key of a read: equal for the same request and token without a write in between. */
class Read implements Equal.Equal {
  readonly #asked: string

  constructor(readonly call: UpstreamCall, writes: number) {
    const { authentication, base, headers, path, plain, query, timeout } = call
    this.#asked = JSON.stringify([
      writes,
      base,
      path,
      query,
      headers,
      authentication.scheme,
      plain,
      Duration.toMillis(timeout)
    ])
  }

  [Equal.symbol](that: Equal.Equal): boolean {
    return that instanceof Read && that.#asked === this.#asked &&
      Equal.equals(that.call.authentication.token, this.call.authentication.token)
  }

  [Hash.symbol](): number {
    return Hash.string(this.#asked)
  }
}

/**
 * Lets identical concurrent reads share one call, which continues while any of them waits for it. A read after a write
 * never shares a call that began before the write.
 *
 * Four callers that list 300 applications at once make 304 calls instead of 1,204; Coolify allows 200 a minute.
 */
export const shareReads = (send: Send): Effect.Effect<Send, never, Scope.Scope> =>
  Effect.gen(function*() {
    const writes = yield* Ref.make(0)
    const reads = yield* RcMap.make({ lookup: ({ call }: Read) => send(call) })
    return (call) =>
      call.method === "GET" && call.idempotent
        ? Effect.scoped(Effect.flatMap(Ref.get(writes), (count) => RcMap.get(reads, new Read(call, count))))
        : Effect.ensuring(send(call), Ref.update(writes, (count) => count + 1))
  })
