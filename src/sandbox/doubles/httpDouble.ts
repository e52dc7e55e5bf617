import { Clock, Effect, FiberSet, Option, Redacted, Ref, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { listenOnLoopback, loopback } from "../ports/loopback.ts"
import type { SandboxFailed } from "../ports/SandboxFailed.ts"
import { type DoubleReply, type HttpFault, sendFault, sendReply } from "./httpFault.ts"

/** A request as a double sees it: the segments of its path unescaped, its body parsed when it is JSON. */
export interface DoubleRequest {
  readonly method: string
  readonly segments: ReadonlyArray<string>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A call that a double received. Of `authorization` the scheme alone is kept. */
export interface RecordedCall {
  readonly method: string
  /** As it was sent: escaped, and without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Calls that a fault applies to: all that match the given parts. */
export interface CallPattern {
  readonly method?: string
  /** The whole path, or a pattern within it. */
  readonly path?: string | RegExp
}

/** An HTTP server on a loopback port that stands for another system. */
export interface HttpDouble {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** The calls so far, oldest first, the last thousand; those that were turned away too. */
  readonly calls: Effect.Effect<ReadonlyArray<RecordedCall>>
  readonly forgetCalls: Effect.Effect<void>
  /**
   * Makes the next calls of a pattern go wrong, one of them unless `times` says otherwise. With `applied` the double
   * has done what was asked before the answer goes wrong.
   */
  readonly fail: (
    pattern: CallPattern,
    fault: HttpFault,
    options?: { readonly times?: number; readonly applied?: boolean }
  ) => Effect.Effect<void>
  readonly healed: Effect.Effect<void>
}

export interface HttpDoubleOptions {
  /** Name of the double in errors. */
  readonly part: string
  /** The whole `Authorization` header that a call must carry. */
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

/** Takes the first planned fault that fits a call, and counts it. */
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

/** Starts a double on a free loopback port. It ends with the scope, and with it whatever still waits for an answer. */
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
    // The double is outside the program under test: its time is the machine's, whatever clock the program has.
    Effect.withClock(Clock.make()),
    Effect.withSpan("makeHttpDouble")
  )
