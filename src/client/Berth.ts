import { HttpApiClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import {
  Context,
  Data,
  Effect,
  Encoding,
  Fiber,
  Layer,
  Option,
  Predicate,
  type Redacted,
  Ref,
  Schema,
  type Scope,
  Sink,
  Stream
} from "effect"
import { BerthApi } from "../http/api/BerthApi.ts"
import { type ExecEvent, ExecExit, ExecOpened, ExecOutput, ExecRequest, type TerminalSize } from "../schema/exec.ts"
import type { LogEvent } from "../schema/logs.ts"
import { Run } from "../schema/runs.ts"
import {
  type BerthError,
  type CallFailure,
  makeRefusal,
  makeUnexpectedAnswer,
  makeUnreachable,
  readAs,
  readErrorMessage,
  readRefusal,
  toBerthError
} from "./BerthError.ts"
import {
  type FollowedLogs,
  type FollowedProjects,
  followLogs,
  followProjectLogs,
  makeEventReader,
  type RawEvent,
  type RunEvent,
  runEvents
} from "./streams.ts"

/** Options of an effect's requests: extra headers, and a listener for raw answers. */
class Sending extends Context.Reference<Sending>()("berth/client/Sending", {
  defaultValue: (): {
    readonly headers: Readonly<Record<string, string>>
    readonly heard: (body: string) => Effect.Effect<void>
  } => ({ headers: {}, heard: () => Effect.void })
}) {}

/** Display name of a service in the caller's own process. */
export const nameOfThisProcess = "this process"

/** Listener for answers that take longer than a user should wait without a word. */
export class SlowAnswers extends Context.Reference<SlowAnswers>()("berth/client/SlowAnswers", {
  defaultValue: (): {
    /** Executed while an answer is awaited, and interrupted when it begins. */
    readonly meanwhile?: (where: string, request: HttpClientRequest.HttpClientRequest) => Effect.Effect<void>
  } => ({})
}) {}

/** Runs the listener of `SlowAnswers` beside every request of a client. */
const withSlowAnswers = (where: string) => (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(
    client,
    (answer, request) =>
      Effect.flatMap(SlowAnswers, ({ meanwhile }) =>
        meanwhile === undefined ? answer : Effect.acquireUseRelease(
          Effect.forkDaemon(Effect.interruptible(meanwhile(where, request))),
          () => answer,
          Fiber.interrupt
        ))
  )

/** The service started a run instead of answering; the answer follows later. */
class Accepted extends Data.TaggedError("Accepted")<{ readonly run: Run }> {}

const decodeRun = Schema.decodeOption(Schema.parseJson(Run))

/** Reads an answer completely. Fails for an error status, and with `Accepted` for a run in place of its answer. */
const readAnswer = (where: string, request: HttpClientRequest.HttpClientRequest) =>
(
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, Accepted | BerthError> =>
  Effect.gen(function*() {
    if (response.status >= 400) return yield* readRefusal(where, response)
    const text = yield* Effect.mapError(response.text, toBerthError(where))
    const { heard } = yield* Sending
    yield* heard(text)
    if (response.status === 202) {
      const run = decodeRun(text)
      if (run._tag === "None") return yield* makeUnexpectedAnswer(where, `${where} answered a run that cannot be read`)
      return yield* new Accepted({ run: run.value })
    }
    const { headers, status } = response
    return HttpClientResponse.fromWeb(request, new Response(text === "" ? null : text, { status, headers }))
  })

const isSegment = (value: unknown) => Predicate.isString(value) && !["", ".", ".."].includes(value)

/** Percent-encodes path parameters, so that each stays one segment of the URL. */
const encodedPath = (request: unknown): Effect.Effect<unknown, BerthError> => {
  if (!Predicate.hasProperty(request, "path") || !Predicate.isRecord(request.path)) return Effect.succeed(request)
  const parts = Object.entries(request.path)
  const unfit = parts.find(([, value]) => !isSegment(value))
  if (unfit !== undefined) {
    const [name, value] = unfit
    const message = `${JSON.stringify(value)} cannot be the ${name} of anything: nothing was asked`
    return makeRefusal(400, message)
  }
  const path = Object.fromEntries(parts.map(([name, value]) => [name, encodeURIComponent(String(value))]))
  return Effect.succeed({ ...request, path })
}

const withEncodedPaths = <Client extends object>(client: Client): Client =>
  new Proxy(client, {
    get: (target, name, receiver) => {
      const endpoint: unknown = Reflect.get(target, name, receiver)
      return Predicate.isFunction(endpoint)
        ? (request: unknown) => Effect.flatMap(encodedPath(request), (encoded) => endpoint(encoded))
        : endpoint
    }
  })

/** Adds the headers of `Sending` to every request of a client. */
const withSendingHeaders = <E, R>(client: HttpClient.HttpClient.With<E, R>): HttpClient.HttpClient.With<E, R> =>
  HttpClient.mapRequestEffect(
    client,
    (request) => Effect.map(Sending, ({ headers }) => HttpClientRequest.setHeaders(request, headers))
  )

/**
 * Creates a function for each endpoint of the contract.
 * @param where display name of the service, usually its address
 */
const makeEndpoints = (client: HttpClient.HttpClient, where: string) =>
  Effect.map(
    HttpApiClient.makeWith(BerthApi, {
      transformResponse: readAs(where),
      httpClient: HttpClient.transform(
        withSendingHeaders(client),
        (answer, request) => Effect.flatMap(Effect.mapError(answer, toBerthError(where)), readAnswer(where, request))
      )
    }),
    withEncodedPaths
  )

/** Endpoints of the service as functions of their request. */
export type Endpoints = Effect.Effect.Success<ReturnType<typeof makeEndpoints>>

/** A call of one endpoint: `(api) => api.listServers({})`. */
export type Call<A> = (api: Endpoints) => Effect.Effect<A, CallFailure | Accepted>

/** Answer of an endpoint, decoded and raw. */
export interface Answer<A> {
  readonly value: A
  /** Response body as JSON, with no field left out. */
  readonly body: string
}

/** A started run. It outlives its caller. */
export interface StartedRun<A> {
  readonly run: Run
  /** Events of the run up to its end. */
  readonly events: Stream.Stream<RunEvent, BerthError>
  /** Waits for the end of the run and returns the answer of its endpoint. */
  readonly result: Effect.Effect<Answer<A>, BerthError>
}

/** A running command in a container, until the scope closes. */
export interface OpenedExec {
  readonly opened: ExecOpened
  /** Output, then the exit as the last event. Can be consumed once. */
  readonly events: Stream.Stream<ExecEvent, BerthError>
  /** Sends input; completes once the service has accepted all of it. */
  readonly send: (data: Uint8Array) => Effect.Effect<void, BerthError>
  /** Closes the command's stdin. */
  readonly endInput: Effect.Effect<void, BerthError>
  readonly resize: (size: TerminalSize) => Effect.Effect<void, BerthError>
}

/** Client of a Berth service, remote or in this process. */
export class Berth extends Context.Tag("berth/client/Berth")<Berth, {
  /** Display name of the service, usually its address. */
  readonly where: string
  /**
   * True if the run outlives this process because another one executes it. Without an id: if a run to be started would.
   */
  readonly outlives: (run?: string) => Effect.Effect<boolean>
  /** Calls an endpoint. */
  readonly use: <A>(call: Call<A>) => Effect.Effect<A, BerthError>
  /** Calls an endpoint and returns its raw body too. */
  readonly answer: <A>(call: Call<A>) => Effect.Effect<Answer<A>, BerthError>
  /** Calls an endpoint that starts a run, without waiting for the run to end. */
  readonly start: <A>(call: Call<A>, options?: { readonly key?: string }) => Effect.Effect<StartedRun<A>, BerthError>
  /** Calls an endpoint that starts a run, reports its events, and waits for its end. */
  readonly run: <A>(
    call: Call<A>,
    heard?: (event: RunEvent) => Effect.Effect<void>
  ) => Effect.Effect<A, BerthError>
  /** Events of a run up to its end: all of them, or those after the event `after`. */
  readonly runEvents: (id: string, after?: string) => Stream.Stream<RunEvent, BerthError>
  /** Log lines of a stack or a container of a server as they arrive; endless unless `until` is given. */
  readonly followLogs: (serverId: string, logs: FollowedLogs) => Stream.Stream<LogEvent, BerthError>
  /** Log lines of several projects as they arrive, each with its project; endless unless `until` is given. */
  readonly followProjectLogs: (logs: FollowedProjects) => Stream.Stream<LogEvent, BerthError>
  /** Runs a command in a container of a server's stack, until the scope closes. */
  readonly exec: (serverId: string, request: ExecRequest) => Effect.Effect<OpenedExec, BerthError, Scope.Scope>
}>() {}

export type Door = "cli" | "mcp" | "web" | "script"

const decodeOpened = Schema.decode(Schema.parseJson(ExecOpened))
const decodeOutput = Schema.decode(Schema.parseJson(ExecOutput))
const decodeExit = Schema.decode(Schema.parseJson(ExecExit))
const encodeRequest = Schema.encode(ExecRequest)

const unreadable = (where: string) => () =>
  makeUnexpectedAnswer(where, `The output of a command at ${where} cannot be read`)

const decodeEvent =
  (where: string) => ({ data, event }: RawEvent): Effect.Effect<ReadonlyArray<ExecEvent>, BerthError> => {
    if (event === "error") return makeRefusal(502, Option.getOrElse(readErrorMessage(data), () => "The command ended"))
    const decoded: Effect.Effect<ReadonlyArray<ExecEvent>, unknown> = event === "output"
      ? Effect.map(decodeOutput(data), (data) => [{ event, data }])
      : event === "exit"
      ? Effect.map(decodeExit(data), (data) => [{ event, data }])
      : Effect.succeed([])
    return Effect.mapError(decoded, unreadable(where))
  }

/** Input bytes per request; base64 of this size fits the limit of a body. */
const mostInput = 256 * 1024
const endTimeout = "10 seconds"

/** Sends input in order and resends the bytes that the service had no room for. */
const inputSender = (exec: string, use: Use) => {
  let sent = 0
  const sendFrom = (offset: number, data: Uint8Array, end: boolean): Effect.Effect<void, BerthError> =>
    Effect.gen(function*() {
      const part = data.subarray(0, mostInput)
      const isLast = end && part.length === data.length
      const { ended, received } = yield* use((api) =>
        api.sendExecInput({ path: { id: exec }, payload: { data: part, offset, ...(isLast ? { end: true } : {}) } })
      )
      const rest = data.subarray(Math.max(0, received - offset))
      if (rest.length > 0 || (end && !ended)) yield* sendFrom(received, rest, end)
    })
  return (data: Uint8Array, end = false) =>
    Effect.suspend(() => {
      const offset = sent
      sent += data.length
      return sendFrom(offset, data, end)
    })
}

type Use = Berth["Type"]["use"]

/** Runs a command in a container until the scope closes. Does not reconnect: a broken connection ends the command. */
const openExec = (
  client: HttpClient.HttpClient,
  where: string,
  use: Use,
  serverId: string,
  request: ExecRequest
): Effect.Effect<OpenedExec, BerthError, Scope.Scope> =>
  Effect.gen(function*() {
    const body = yield* Effect.mapError(encodeRequest(request), toBerthError(where))
    const asked = HttpClientRequest.post(`/api/servers/${encodeURIComponent(serverId)}/exec`).pipe(
      HttpClientRequest.setHeader("accept", "text/event-stream"),
      HttpClientRequest.bodyUnsafeJson(body)
    )
    const response = yield* Effect.mapError(client.execute(asked), toBerthError(where))
    if (response.status >= 400) return yield* readRefusal(where, response)
    const read = makeEventReader()
    const raw = response.stream.pipe(
      Stream.mapError((error) => makeUnreachable(where, error)),
      Stream.decodeText(),
      Stream.mapConcat(read)
    )
    const [first, rest] = yield* Stream.peel(raw, Sink.head<RawEvent>())
    const opened = yield* Effect.mapError(
      decodeOpened(Option.match(first, { onNone: () => "", onSome: ({ data }) => data })),
      unreadable(where)
    )
    const { exec } = opened
    const hasEnded = yield* Ref.make(false)
    yield* Effect.addFinalizer(() =>
      use((api) => api.endExec({ path: { id: exec } })).pipe(
        Effect.interruptible,
        Effect.timeout(endTimeout),
        Effect.ignore,
        Effect.unlessEffect(Ref.get(hasEnded))
      )
    )
    const send = inputSender(exec, use)
    return {
      opened,
      events: rest.pipe(
        Stream.mapEffect(decodeEvent(where)),
        Stream.flattenIterables,
        Stream.tap(({ event }) => event === "exit" ? Ref.set(hasEnded, true) : Effect.void),
        Stream.concat(Stream.fail(makeUnreachable(where, "the connection broke, and with it the command has ended"))),
        Stream.takeUntil(({ event }) => event === "exit")
      ),
      send,
      endInput: send(new Uint8Array(), true),
      resize: (size) => Effect.asVoid(use((api) => api.resizeExec({ path: { id: exec }, payload: size })))
    }
  })

/** Id below every event id of a run; a watcher that sends it receives all events. */
const beforeAll = "0"

// `randomUUID` is only available to browsers in secure contexts.
const randomKey = Effect.sync(() => Encoding.encodeHex(globalThis.crypto.getRandomValues(new Uint8Array(16))))

/**
 * Creates the client on top of an HTTP client that already prepends the service's address.
 * @param where display name of the service, usually its address
 */
export const make = (
  client: HttpClient.HttpClient,
  { outlives, where }: Pick<Berth["Type"], "outlives" | "where">
): Effect.Effect<Berth["Type"]> =>
  Effect.gen(function*() {
    const http = withSlowAnswers(where)(client)
    const api = yield* makeEndpoints(http, where)
    const toFailure = <A>(effect: Effect.Effect<A, CallFailure | Accepted>) =>
      Effect.mapError(effect, (failure) =>
        failure._tag === "Accepted"
          ? makeUnexpectedAnswer(where, `${where} started run ${failure.run.id} and did not wait for its answer`)
          : toBerthError(where)(failure))

    const answer = <A>(call: Call<A>, headers: Readonly<Record<string, string>> = {}) =>
      Effect.gen(function*() {
        const body = yield* Ref.make("")
        const heard = (text: string) => Ref.set(body, text)
        const value = yield* Effect.provideService(call(api), Sending, { headers, heard })
        return { value, body: yield* Ref.get(body) }
      })

    const start = <A>(call: Call<A>, options: { readonly key?: string } = {}) =>
      Effect.gen(function*() {
        const key = options.key ?? (yield* randomKey)
        const keyed = { "idempotency-key": key }
        const started = (run: Run): StartedRun<A> => {
          const events = runEvents(http, where, run.id, { after: beforeAll, justStarted: true })
          // Repeats the request under its idempotency key: the service answers with the result of the run.
          const result = Effect.zipRight(Stream.runDrain(events), toFailure(answer(call, keyed)))
          return { run, events, result }
        }
        return yield* answer(call, { ...keyed, prefer: "respond-async" }).pipe(
          Effect.flatMap(() => makeUnexpectedAnswer(where, `${where} answered before it named the run`)),
          Effect.catchTag("Accepted", ({ run }) => Effect.succeed(started(run))),
          toFailure
        )
      })

    const use: Berth["Type"]["use"] = (call) => toFailure(Effect.map(answer(call), ({ value }) => value))

    return Berth.of({
      where,
      outlives,
      use,
      answer: (call) => toFailure(answer(call)),
      start,
      run: (call, heard = () => Effect.void) =>
        Effect.gen(function*() {
          const { events, result } = yield* start(call)
          yield* Stream.runForEach(events, heard)
          return (yield* result).value
        }),
      runEvents: (id, after) => runEvents(http, where, id, { after }),
      followLogs: (serverId, logs) => followLogs(http, where, serverId, logs),
      followProjectLogs: (logs) => followProjectLogs(http, where, logs),
      exec: (serverId, request) => openExec(http, where, use, serverId, request)
    })
  })

export interface Address {
  /** Base URL, for example `http://127.0.0.1:3100`. Empty in the service's own page. */
  readonly url: string
  /** Token of the service: `http.token` or one of `http.tokens` in its settings. */
  readonly token?: Redacted.Redacted | undefined
  readonly door?: Door | undefined
}

/** Sends the requests of an HTTP client to an address, with its token. */
export const withAddress = ({ door = "script", token, url }: Address) => (http: HttpClient.HttpClient) =>
  http.pipe(
    HttpClient.mapRequest((request) =>
      request.pipe(
        url === "" ? (request) => request : HttpClientRequest.prependUrl(url),
        HttpClientRequest.setHeader("berth-door", door),
        token === undefined ? (request) => request : HttpClientRequest.bearerToken(token)
      )
    )
  )

/** Client of the service at an address, over the HTTP client of the context: `FetchHttpClient.layer` in a browser. */
export const layer = (address: Address): Layer.Layer<Berth, never, HttpClient.HttpClient> =>
  Layer.effect(
    Berth,
    Effect.flatMap(HttpClient.HttpClient, (http) =>
      make(withAddress(address)(http), {
        where: address.url === "" ? "this address" : address.url,
        outlives: () => Effect.succeed(true)
      }))
  )
