import { HttpServerError, type HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { ApiError } from "../api/annotations/ApiError.ts"
import { describeBodyTooLong } from "./bodyLimits.ts"

/** The body ended early: the caller disconnected, or did not send it in time. */
class CutOff extends Error {
  override readonly message = "the connection was closed before the whole body had arrived"
}

/**
 * Reads a body of known length or in chunks. Also completes on "close": a disconnect may emit neither "end" nor
 * "error", and the request's fiber is not interruptible everywhere.
 */
const readText = (source: IncomingMessage, maxBytes: number): Effect.Effect<string, ApiError | CutOff> =>
  Effect.async((resume) => {
    if (source.destroyed && !source.readableEnded) return resume(Effect.fail(new CutOff()))
    const chunks: Array<Buffer> = []
    let size = 0
    const stop = () => {
      source.off("data", add).off("end", end).off("close", cut)
      chunks.length = 0
    }
    const add = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBytes) return
      stop()
      // Drains the rest of the body: a caller that is disconnected while it sends would not receive the response.
      source.resume()
      resume(new ApiError({ status: 413, message: describeBodyTooLong(maxBytes) }))
    }
    const end = () => {
      const text = Buffer.concat(chunks).toString("utf8")
      stop()
      resume(Effect.succeed(text))
    }
    const cut = () => {
      stop()
      resume(Effect.fail(new CutOff()))
    }
    source.on("error", () => undefined).on("data", add).on("end", end).on("close", cut)
    return Effect.sync(stop)
  })

/** Adds a lazily read `text` of at most `maxBytes` to a request; the body of a refused request is not read. */
export const withBoundedText = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<HttpServerRequest.HttpServerRequest> =>
  readText(NodeHttpServerRequest.toIncomingMessage(request), maxBytes).pipe(
    Effect.mapError((failure) =>
      failure instanceof ApiError
        ? failure
        : new HttpServerError.RequestError({ request, reason: "Decode", cause: failure })
    ),
    Effect.cached,
    Effect.map((text) => Object.create(request, { text: { value: text } }))
  )
