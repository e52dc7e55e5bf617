import type { HttpClientError, HttpClientResponse } from "@effect/platform"
import { Effect, Stream } from "effect"
import { UpstreamUnavailable } from "../../schema/basics/Upstream.ts"
import { consumeBudget, formatMebibytes } from "./answerBudget.ts"
import { connectionReason } from "./connectionReason.ts"

type Response = HttpClientResponse.HttpClientResponse

/** Value of Content-Length. */
const announcedLength = ({ headers }: Response): number | undefined => {
  const length = headers["content-length"]
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

/** Reads a response in chunks, and stops when it is too long. */
const counted = (response: Response, room: (bytes: number) => Effect.Effect<void, UpstreamUnavailable>) => {
  const parts: Array<Uint8Array> = []
  const add = (part: Uint8Array) => Effect.map(room(part.length), () => void parts.push(part))
  return Effect.map(Stream.runForEach(response.stream, add), () => new TextDecoder().decode(Buffer.concat(parts)))
}

/**
 * Reads the text of a response, within the limit of its call and the budget of the current request. A response that
 * announces its length is read in one piece, at half the cost.
 * @param call names the call in an error
 */
export const readAnswerText = (
  call: string,
  response: Response,
  limit: number
): Effect.Effect<string, UpstreamUnavailable> => {
  const tooLong = (reason: string) => new UpstreamUnavailable({ call, reason, transport: false })
  const over = () => tooLong(`answered more than ${formatMebibytes(limit)}, the most that is read of it`)
  let read = 0
  const room = (bytes: number) => {
    read += bytes
    return read > limit ? over() : Effect.mapError(consumeBudget(bytes), tooLong)
  }
  // Reads only the first chunk, which cancels the rest.
  const dropped = Effect.ignore(Stream.runHead(response.stream))
  const length = announcedLength(response)
  const text: Effect.Effect<string, UpstreamUnavailable | HttpClientError.ResponseError> = length === undefined
    ? counted(response, room)
    : Effect.zipRight(Effect.tapError(room(length), () => dropped), response.text)
  return Effect.catchTag(text, "ResponseError", ({ cause, reason }) =>
    reason === "EmptyBody"
      ? Effect.succeed("")
      : new UpstreamUnavailable({ call, reason: `the answer broke off: ${connectionReason(cause)}`, transport: true }))
}
