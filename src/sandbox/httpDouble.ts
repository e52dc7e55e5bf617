import {
  Clock,
  Data,
  type Duration,
  Effect,
  FiberSet,
  Option,
  ParseResult,
  Redacted,
  Ref,
  Schema,
  type Scope
} from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Server } from "node:net"

/** A part of the sandbox failed to start. */
export class SandboxFailed extends Schema.TaggedError<SandboxFailed>()("SandboxFailed", {
  part: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The sandbox's ${this.part} did not start: ${this.reason}`
  }
}

/** Listen address of every part of the sandbox. */
export const loopback = "127.0.0.1"

/**
 * Listens on a loopback port until the scope closes, and returns the port; 0 picks a free one. Closing waits for open
 * connections, which the caller ends first.
 */
export const listenOnLoopback = (
  part: string,
  server: Server,
  port = 0
): Effect.Effect<number, SandboxFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<number, SandboxFailed>((resume) => {
      server.once("error", ({ message }) => resume(Effect.fail(new SandboxFailed({ part, reason: message }))))
      server.listen(port, loopback, () => {
        const address = server.address()
        resume(
          address === null || typeof address === "string"
            ? Effect.fail(new SandboxFailed({ part, reason: "it has no port" }))
            : Effect.succeed(address.port)
        )
      })
    }),
    () => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
  )

/** Response of a double. The body is sent as JSON; no body if absent. */
export interface DoubleReply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Fault of a system on the network. */
export type HttpFault = Data.TaggedEnum<{
  /** Sends this response instead. */
  Answer: { readonly reply: DoubleReply }
  /** Sends the correct response late. */
  Delay: { readonly duration: Duration.DurationInput }
  /** Accepts the request and never responds. */
  Hang: {}
  /** Resets the connection without a response. */
  Reset: {}
  /** Responds with an HTML page, like a proxy in between. */
  Html: { readonly status: number }
  /** Responds 200 with truncated JSON. */
  HalfJson: {}
  /** Sends the head and half of the body, then resets the connection. */
  CutBody: {}
  Redirect: { readonly status: number; readonly location: string }
}>
export const HttpFault = Data.taggedEnum<HttpFault>()

const half = "{\"uuid\": \"half-an-ans"

/** Sends a complete response. */
const sendReply = (response: ServerResponse, { body, headers = {}, status }: DoubleReply): Effect.Effect<void> =>
  Effect.sync(() => {
    if (body === undefined) {
      response.writeHead(status, headers).end()
      return
    }
    const text = JSON.stringify(body)
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text)
  })

const sendText = (response: ServerResponse, status: number, type: string, text: string) =>
  Effect.sync(() => void response.writeHead(status, { "content-type": type }).end(text))

/** Responds with a fault; `answer` is the correct response. */
const sendFault = (
  response: ServerResponse,
  fault: HttpFault,
  answer: Effect.Effect<DoubleReply>
): Effect.Effect<void> =>
  HttpFault.$match(fault, {
    Answer: ({ reply }) => sendReply(response, reply),
    Delay: ({ duration }) => Effect.flatMap(Effect.delay(answer, duration), (reply) => sendReply(response, reply)),
    Hang: () => Effect.never,
    Reset: () => Effect.sync(() => void response.socket?.resetAndDestroy()),
    Html: ({ status }) => sendText(response, status, "text/html", "<html><body><h1>Bad Gateway</h1></body></html>\n"),
    HalfJson: () => sendText(response, 200, "application/json", half),
    CutBody: () =>
      Effect.async<void>((resume) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": half.length * 2 })
        response.write(half, () => {
          response.socket?.resetAndDestroy()
          resume(Effect.void)
        })
      }),
    Redirect: ({ location, status }) => Effect.sync(() => void response.writeHead(status, { location }).end())
  })

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

interface HttpDoubleOptions {
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

/** Refusal of a request by a double's state; the double adds the vendor's message and status. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly why: "missing" | "taken" | "invalid"
  /** Kind of the resource, such as `Application` or `Hook`. */
  readonly what: string
  /** Invalid fields, each with its reasons. */
  readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
}> {
  static missing(what: string) {
    return new Refused({ why: "missing", what, fields: {} })
  }
  static taken(what: string) {
    return new Refused({ why: "taken", what, fields: {} })
  }
  static invalid(what: string, fields: Readonly<Record<string, ReadonlyArray<string>>>) {
    return new Refused({ why: "invalid", what, fields })
  }
}

/** Annotates a schema with the message for invalid values. */
export const annotateMessage = (message: string) => ({ message: () => message })

/** Non-empty string. */
export const Filled = Schema.NonEmptyString.annotations(annotateMessage("The field is required."))

export const nullable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** URLs with commas between them. */
export const Addresses = Schema.String.pipe(
  Schema.filter(
    (text) => text === "" || text.split(",").every((url) => /^https?:\/\/[^\s/]+/.test(url)),
    annotateMessage("Invalid URL.")
  )
)

/** Decodes the body of a request; the refusal lists every invalid, missing or unknown field. */
export const decodeRequestBody = <A, I>(what: string, schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(schema, { errors: "all", onExcessProperty: "error" })
  return (body: unknown): Effect.Effect<A, Refused> =>
    Effect.mapError(decode(body), (error) => {
      const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
      const fields: Record<string, ReadonlyArray<string>> = {}
      for (const { _tag, message, path } of issues) {
        // Invalid optional fields get this issue as well, for the union's `undefined`.
        if (message.startsWith("Expected undefined")) continue
        const field = path.map(String).join(".") || "body"
        // Real platforms answer type errors with such a message.
        const said = message.startsWith("Expected ") ? "This field has the wrong type." : message
        const reason = _tag === "Unexpected" ? "This field is not allowed." : said
        fields[field] = [...new Set([...fields[field] ?? [], reason])]
      }
      return Refused.invalid(what, fields)
    })
}
