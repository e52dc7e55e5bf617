import { Clock, Effect, FiberSet, Option, Redacted, Ref, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { listenOnLoopback, loopback } from "../ports/loopback.ts"
import type { SandboxFailed } from "../ports/SandboxFailed.ts"
import { type DoubleReply, type HttpFault, sendFault, sendReply } from "./httpFault.ts"

/** Request to a double: decoded path segments, and the parsed body if it is JSON. */
export interface DoubleRequest {
  readonly method: string
  readonly segments: ReadonlyArray<string>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Recorded call to a double; only the scheme of `authorization` is kept. */
export interface RecordedCall {
  readonly method: string
  /** Path as sent: percent-encoded, without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Pattern of calls that a fault applies to; all given parts must match. */
export interface CallPattern {
  readonly method?: string
  /** Exact path, or a pattern that matches within it. */
  readonly path?: string | RegExp
}

/** HTTP server on a loopback port that simulates another system. */
export interface HttpDouble {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** Last thousand calls, oldest first, including rejected ones. */
  readonly calls: Effect.Effect<ReadonlyArray<RecordedCall>>
  readonly forgetCalls: Effect.Effect<void>
  /**
   * Makes the next calls of a pattern fail: one, or `times`. With `applied` the double executes the request before its
   * answer fails.
   */
  readonly fail: (
    pattern: CallPattern,
    fault: HttpFault,
    options?: { readonly times?: number; readonly applied?: boolean }
  ) => Effect.Effect<void>
  readonly healed: Effect.Effect<void>
}

export interface HttpDoubleOptions {
  /** Name of the double in error messages. */
  readonly part: string
  /** Complete `Authorization` header that calls require. */
  readonly authorization: Redacted.Redacted
  readonly unauthorized: DoubleReply
  readonly handle: (request: DoubleRequest) => Effect.Effect<DoubleReply>
}

interface PlannedFault {
  readonly pattern: CallPattern
  readonly fault: HttpFault
  readonly applied: boolean
  readonly left: number
}

const remembered = 1000
const maxBody = 1024 * 1024
const maxConnections = 256

const fits = ({ method, path }: CallPattern, call: RecordedCall): boolean =>
  (method === undefined || method === call.method) &&
  (path === undefined || (typeof path === "string" ? path === call.path : path.test(call.path)))

/** Removes one use of the first planned fault that matches a call, and returns the fault. */
const takeFault = (call: RecordedCall) => (planned: ReadonlyArray<PlannedFault>) => {
  const found = planned.find(({ pattern }) => fits(pattern, call))
  if (found === undefined) return [Option.none<PlannedFault>(), planned] as const
  const rest = planned.flatMap((one) => one !== found ? [one] : one.left > 1 ? [{ ...one, left: one.left - 1 }] : [])
  return [Option.some(found), rest] as const
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const text = Array.isArray(value) ? value.join(", ") : value ?? ""
      return [name, name === "authorization" ? text.split(" ")[0] ?? "" : text]
    })
  )

const bodyOf = (request: IncomingMessage) =>
  Effect.tryPromise(async () => {
    const chunks: Array<Buffer> = []
    let size = 0
    for await (const chunk of request) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > maxBody) return Option.none<string>()
      chunks.push(bytes)
    }
    return Option.some(Buffer.concat(chunks).toString("utf8"))
  })

const parsed = (text: string): Effect.Effect<unknown> =>
  text === ""
    ? Effect.succeed(undefined)
    : Effect.orElseSucceed(Effect.try((): unknown => JSON.parse(text)), () => text)

const segmentsOf = (path: string) =>
  Effect.try(() => path.split("/").slice(1).map((segment) => decodeURIComponent(segment)))

/** Starts a double on a free loopback port. Closing the scope ends it and all pending requests. */
export const makeHttpDouble = (options: HttpDoubleOptions): Effect.Effect<HttpDouble, SandboxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const calls = yield* Ref.make<ReadonlyArray<RecordedCall>>([])
    const faults = yield* Ref.make<ReadonlyArray<PlannedFault>>([])
    const run = yield* FiberSet.makeRuntime<never>()

    const answer = (call: RecordedCall, authorization: string | undefined): Effect.Effect<DoubleReply> =>
      authorization === Redacted.value(options.authorization)
        ? segmentsOf(call.path).pipe(
          Effect.flatMap((segments) => options.handle({ ...call, segments })),
          Effect.orElseSucceed((): DoubleReply => ({ status: 400, body: { message: "Bad request" } }))
        )
        : Effect.succeed(options.unauthorized)

    const serve = (request: IncomingMessage, response: ServerResponse) =>
      Effect.gen(function*() {
        const body = yield* bodyOf(request)
        if (Option.isNone(body)) return yield* sendReply(response, { status: 413, body: { message: "Too large" } })
        const url = new URL(request.url ?? "/", `http://${loopback}`)
        const call: RecordedCall = {
          method: request.method ?? "GET",
          path: url.pathname,
          query: Object.fromEntries(url.searchParams),
          headers: headersOf(request),
          body: yield* parsed(body.value)
        }
        yield* Ref.update(calls, (all) => [...all, call].slice(-remembered))
        const planned = yield* Ref.modify(faults, takeFault(call))
        const answered = answer(call, request.headers.authorization)
        if (Option.isNone(planned)) return yield* Effect.flatMap(answered, (reply) => sendReply(response, reply))
        const { applied, fault } = planned.value
        const done = applied ? Effect.succeed(yield* answered) : answered
        yield* sendFault(response, fault, done)
      }).pipe(Effect.ignore)

    const server = createServer((request, response) => run(serve(request, response)))
    server.maxConnections = maxConnections
    const port = yield* listenOnLoopback(options.part, server)
    yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))

    const double: HttpDouble = {
      url: `http://${loopback}:${port}`,
      calls: Ref.get(calls),
      forgetCalls: Ref.set(calls, []),
      fail: (pattern, fault, { applied = false, times = 1 } = {}) =>
        Ref.update(faults, (all) => [...all, { pattern, fault, applied, left: times }]),
      healed: Ref.set(faults, [])
    }
    return double
  }).pipe(
    // The double is outside the program under test and ignores its test clock.
    Effect.withClock(Clock.make()),
    Effect.withSpan("makeHttpDouble")
  )
