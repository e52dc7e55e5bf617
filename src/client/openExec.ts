import { type HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Option, Ref, Schema, type Scope, Sink, Stream } from "effect"
import { type ExecEvent, ExecExit, ExecOpened, ExecOutput, ExecRequest } from "../schema/servers/Exec.ts"
import type { Berth, OpenedExec } from "./Berth.ts"
import {
  type BerthError,
  makeRefusal,
  makeUnexpectedAnswer,
  makeUnreachable,
  readErrorMessage,
  readRefusal,
  toBerthError
} from "./BerthError.ts"
import { makeEventReader, type RawEvent } from "./eventText.ts"

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
export const openExec = (
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
