import type { HttpServerRequest } from "@effect/platform"
import { Effect, type Option } from "effect"
import type { IncomingMessage } from "node:http"

/**
 * Reads a body whose length was not announced. Nothing when it is longer than `maxBytes`: the rest is then let pass
 * unread, because a caller that is cut off while it sends does not get to see why.
 */
export const readChunked = (source: IncomingMessage, maxBytes: number): Effect.Effect<Option.Option<string>> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const stop = () => void source.off("data", add).off("end", end)
    const add = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBytes) return
      stop()
      source.resume()
      resume(Effect.succeedNone)
    }
    const end = () => resume(Effect.succeedSome(Buffer.concat(chunks).toString("utf8")))
    // A caller that breaks off ends the fiber of its request.
    source.on("error", () => undefined).on("data", add).on("end", end)
    return Effect.sync(stop)
  })

/** The request with its body read already. */
export const withText = (
  request: HttpServerRequest.HttpServerRequest,
  text: string
): HttpServerRequest.HttpServerRequest => Object.create(request, { text: { value: Effect.succeed(text) } })
