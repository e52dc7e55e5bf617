import { Data, type Duration, Effect } from "effect"
import type { ServerResponse } from "node:http"

/** Answer of a double. The body is sent as JSON; none if absent. */
export interface DoubleReply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A way in which a system on the network goes wrong. */
export type HttpFault = Data.TaggedEnum<{
  /** Answers this instead. */
  Answer: { readonly reply: DoubleReply }
  /** Answers late, but well. */
  Delay: { readonly duration: Duration.DurationInput }
  /** Takes the request and never answers. */
  Hang: {}
  /** Resets the connection without an answer. */
  Reset: {}
  /** Answers with a web page, as a proxy in between does. */
  Html: { readonly status: number }
  /** Answers 200 with JSON that stops in the middle. */
  HalfJson: {}
  /** Sends the head of an answer and half its body, then resets the connection. */
  CutBody: {}
  Redirect: { readonly status: number; readonly location: string }
}>
export const HttpFault = Data.taggedEnum<HttpFault>()

const half = "{\"uuid\": \"half-an-ans"

/** Sends a whole answer. */
export const sendReply = (response: ServerResponse, { body, headers = {}, status }: DoubleReply): Effect.Effect<void> =>
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

/** Answers with a fault. `answer` is what the double would have said. */
export const sendFault = (
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
