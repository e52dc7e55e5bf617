import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Encoding, Layer, type Redacted, Ref, Stream } from "effect"
import type { Run } from "../schema/runs/Run.ts"
import { Berth, type Call, type Door, type StartedRun } from "./Berth.ts"
import { type CallFailure, makeUnexpectedAnswer, toBerthError } from "./BerthError.ts"
import { type Accepted, makeEndpoints, Sending } from "./endpoints.ts"
import { followLogs, followProjectLogs } from "./followLogs.ts"
import { openExec } from "./openExec.ts"
import { runEvents } from "./runEvents.ts"

/** Id below every event id of a run; a watcher that sends it receives all events. */
const beforeAll = "0"

// `randomUUID` is only available to browsers in secure contexts.
const randomKey = Effect.sync(() => Encoding.encodeHex(globalThis.crypto.getRandomValues(new Uint8Array(16))))

/**
 * Creates the client on top of an HTTP client that already prepends the service's address.
 * @param where display name of the service, usually its address
 */
export const make = (
  http: HttpClient.HttpClient,
  { outlives, where }: Pick<Berth["Type"], "outlives" | "where">
): Effect.Effect<Berth["Type"]> =>
  Effect.gen(function*() {
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
