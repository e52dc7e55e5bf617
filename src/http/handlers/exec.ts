import { HttpApiBuilder, HttpApiError, type HttpServerRequest } from "@effect/platform"
import { Effect, ParseResult, Schema, Stream } from "effect"
import { type ExecEvent, ExecExit, ExecOutput, ExecRequest } from "../../schema/servers/Exec.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { Execs } from "../../services/exec/Execs.ts"
import { type ApiError, orApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"
import { fromIssues } from "../wire/errors.ts"
import { EventStreams } from "../wire/eventStreams.ts"
import { loadOnUse } from "../wire/loadOnUse.ts"
import { requester } from "../wire/requester.ts"

const loadExec = () => import("../../pipelines/exec/openExec.ts")

/** Reads the body for a handler that writes its own answer; such handlers receive no payload. */
const bodyOf = <A, I>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>
): Effect.Effect<A, ApiError> =>
  request.json.pipe(
    // Outer middleware reports unreadable bodies, for all endpoints.
    Effect.orDie,
    Effect.flatMap(Schema.decodeUnknown(schema)),
    Effect.catchIf(ParseResult.isParseError, HttpApiError.HttpApiDecodeError.refailParseError),
    Effect.mapError(fromIssues)
  )

const success = { success: true as const }
const encodeOutput = Schema.encodeSync(Schema.parseJson(ExecOutput))
const encodeExit = Schema.encodeSync(Schema.parseJson(ExecExit))

const encoded = (event: ExecEvent) => ({
  event: event.event,
  data: event.event === "output" ? encodeOutput(event.data) : encodeExit(event.data)
})

export const ExecHandlers = HttpApiBuilder.group(BerthApi, "exec", (handlers) =>
  Effect.gen(function*() {
    const execs = yield* Execs
    const streams = yield* EventStreams
    const caller = Effect.map(CurrentCaller, ({ name }) => name)
    return handlers
      .handleRaw("startExec", ({ path, request }) =>
        orApiError(Effect.gen(function*() {
          const payload = yield* bodyOf(request, ExecRequest)
          const respond = yield* streams.open
          const requestedBy = yield* requester
          const { events, opened } = yield* loadOnUse(
            loadExec,
            ({ openExec }) => openExec(path.id, payload, requestedBy)
          )
          return Stream.make({ event: "opened", data: JSON.stringify(opened) }).pipe(
            Stream.concat(Stream.map(events, encoded)),
            Stream.catchAll(({ message }) => Stream.make({ event: "error", data: JSON.stringify({ error: message }) })),
            respond
          )
        })))
      .handle("sendExecInput", ({ path, payload }) =>
        orApiError(Effect.flatMap(caller, (name) => execs.send(name, path.id, payload))))
      .handle("resizeExec", ({ path, payload }) =>
        caller.pipe(
          Effect.flatMap((name) =>
            execs.resize(name, path.id, payload)
          ),
          Effect.as(success),
          orApiError
        ))
      .handle("endExec", ({ path }) =>
        caller.pipe(Effect.flatMap((name) => execs.end(name, path.id)), Effect.as(success), orApiError))
  }))
