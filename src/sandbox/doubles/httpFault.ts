import { Data, type Duration, Effect } from "effect"
import type { ServerResponse } from "node:http"

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

/** Responds with a fault; `answer` is the correct response. */
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
