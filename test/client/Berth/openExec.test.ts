import { HttpClient, HttpClientResponse } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { make } from "../../../src/client/Berth.ts"

const opened = { exec: "0f8e", container: "app-web-1", service: "web", command: ["true"] }
const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

/** Reads a command of a service that answers these events; returns what else the service was asked. */
const asked = (events: string) =>
  Effect.gen(function*() {
    const paths: Array<string> = []
    const client = HttpClient.make((request, url) =>
      Effect.sync(() => {
        paths.push(url.pathname)
        const isStart = url.pathname === "/api/servers/1/exec"
        return HttpClientResponse.fromWeb(
          request,
          isStart
            ? new Response(event("opened", opened) + events)
            : new Response("{\"success\":true}", { headers: { "content-type": "application/json" } })
        )
      })
    )
    const http = HttpClient.mapRequest(client, (request) => ({ ...request, url: `http://berth.test${request.url}` }))
    const berth = yield* make(http, { where: "here", outlives: () => Effect.succeed(true) })
    yield* berth.exec("1", { remotePath: "~/app", command: ["true"] }).pipe(
      Effect.flatMap(({ events }) => Stream.runDrain(events)),
      Effect.scoped,
      Effect.ignore
    )
    return paths.slice(1)
  })

it.effect("a command is ended by its caller unless it has ended by itself", () =>
  Effect.gen(function*() {
    expect(yield* asked(event("exit", { code: 3 }))).toEqual([])
    expect(yield* asked("")).toEqual(["/api/exec/0f8e/end"])
  }))
