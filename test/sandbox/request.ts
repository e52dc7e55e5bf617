import { Effect } from "effect"

/** A body of any shape: what is not there is undefined. */
export interface Json {
  readonly [field: string]: Json
}

export interface Answer {
  readonly status: number
  readonly body: Json
  readonly headers: Headers
}

/** Requests to one address, with these headers; an answer that is not JSON comes as text. */
export const requestTo =
  (url: string, headers: Record<string, string>) =>
  (method: string, path: string, body?: unknown): Effect.Effect<Answer, Error> =>
    Effect.tryPromise({
      try: async (signal) => {
        const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }
        const response = await fetch(`${url}${path}`, { method, headers, redirect: "manual", signal, ...sent })
        const text = await response.text()
        const isJson = response.headers.get("content-type")?.includes("json") ?? false
        return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
      },
      catch: (cause) => cause instanceof Error ? cause : new Error(String(cause))
    })
