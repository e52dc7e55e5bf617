import { HttpClient, HttpClientResponse } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import { followLogs, followProjectLogs, runEvents } from "../../../src/client/streams.ts"

/** A client whose streams of events end after these bodies, one for each connection; says what it was asked. */
const breaking = (bodies: ReadonlyArray<string>) => {
  const asked: Array<{ readonly query: string; readonly last: string | undefined }> = []
  const client = HttpClient.make((request, url) =>
    Effect.sync(() => {
      asked.push({ query: url.search, last: request.headers["last-event-id"] })
      const body = bodies[asked.length - 1]
      return HttpClientResponse.fromWeb(
        request,
        body === undefined ? new Response(`{"error":"It is gone"}`, { status: 404 }) : new Response(body)
      )
    })
  )
  return {
    asked,
    client: HttpClient.mapRequest(client, (request) => ({ ...request, url: `http://berth.test${request.url}` }))
  }
}

const line = (second: number, text: string, stream = "stdout", of: { readonly project?: string } = {}) =>
  `event: line\ndata: ${
    JSON.stringify({ time: `2026-01-02T03:04:0${second}.000000001Z`, service: "web", stream, text, ...of })
  }\n\n`

it.effect("a log goes on after its connection broke, and tells no line twice", () =>
  Effect.gen(function*() {
    const { asked, client } = breaking([
      line(1, "one") + line(2, "two") + line(1, "late", "stderr"),
      line(1, "one") + line(2, "two") + line(1, "late", "stderr") + line(3, "three") +
      `event: dropped\ndata: {"lines":7}\n\nevent: error\ndata: {"error":"Cannot reach it"}\n\n`
    ])
    const lines = yield* Effect.fork(
      followLogs(client, "here", "main", { remotePath: "~/a b", lines: 5 }).pipe(
        Stream.map(({ data, event }) =>
          event === "line" ? data.text : event === "dropped" ? String(data.lines) : event
        ),
        Stream.catchAll(({ message, status }) => Stream.make(`${status} ${message}`)),
        Stream.runCollect
      )
    )
    yield* TestClock.adjust("2 seconds")
    expect(Chunk.toReadonlyArray(yield* Fiber.join(lines))).toEqual([
      "one",
      "two",
      "late",
      "three",
      "7",
      "502 Cannot reach it"
    ])
    expect(asked.map(({ query }) => query)).toEqual([
      "?remotePath=%7E%2Fa+b&lines=5",
      "?remotePath=%7E%2Fa+b&lines=10000&since=2026-01-02T03%3A04%3A01.000000001Z"
    ])
  }))

it.effect("the logs of several projects go on from the one that has been quiet for longest", () =>
  Effect.gen(function*() {
    const [shop, blog] = [{ project: "shop" }, { project: "blog" }]
    const { asked, client } = breaking([
      line(1, "shop 1", "stdout", shop) + line(2, "blog 2", "stdout", blog) + line(5, "blog 5", "stdout", blog),
      line(3, "shop 3", "stdout", shop) + line(5, "blog 5", "stdout", blog) + line(6, "blog 6", "stdout", blog) +
      "event: end\ndata: {}\n\n"
    ])
    const events = yield* Effect.fork(
      followProjectLogs(client, "here", { projects: ["shop", "blog"], lines: 5 }).pipe(
        Stream.map(({ data, event }) => event === "line" ? data.text : event),
        Stream.runCollect
      )
    )
    yield* TestClock.adjust("2 seconds")
    expect(Chunk.toReadonlyArray(yield* Fiber.join(events))).toEqual([
      "shop 1",
      "blog 2",
      "blog 5",
      "shop 3",
      "blog 6",
      "end"
    ])
    expect(asked.map(({ query }) => query)).toEqual([
      "?project=shop&project=blog&lines=5",
      "?project=shop&project=blog&lines=10000&since=2026-01-02T03%3A04%3A01.000000001Z"
    ])
  }))

const progress = (id: number) =>
  `id: ${id}\nevent: progress\ndata: {"step":"upload","done":${id},"total":9,"unit":"bytes"}\n\n`

it.effect("the events of a run go on after the last one that was heard, and what is refused is not asked again", () =>
  Effect.gen(function*() {
    const { asked, client } = breaking([progress(1) + progress(2), "event: news\ndata: 1\n\n" + progress(3)])
    const told = yield* Effect.fork(
      runEvents(client, "here", "a/b").pipe(
        Stream.map(({ id }) => id),
        Stream.catchAll(({ message }) => Stream.make(message)),
        Stream.runCollect
      )
    )
    yield* TestClock.adjust("5 seconds")
    expect(Chunk.toReadonlyArray(yield* Fiber.join(told))).toEqual(["1", "2", "3", "It is gone"])
    expect(asked.map(({ last }) => last)).toEqual([undefined, "2", "3"])
  }))

it.effect("a service that never answers is not waited for, unless it started the run", () =>
  Effect.gen(function*() {
    let asked = 0
    const client = HttpClient.make((request) =>
      Effect.sync(() => {
        asked += 1
        return HttpClientResponse.fromWeb(request, new Response(""))
      })
    )
    const at = HttpClient.mapRequest(client, (request) => ({ ...request, url: `http://berth.test${request.url}` }))
    yield* Effect.flip(Stream.runDrain(runEvents(at, "here", "1")))
    expect(asked).toBe(1)
    const waiting = yield* Effect.fork(Effect.flip(Stream.runDrain(runEvents(at, "here", "1", { justStarted: true }))))
    yield* TestClock.adjust("2 minutes")
    expect(yield* Fiber.join(waiting)).toMatchObject({ reason: "unreachable" })
    expect(asked).toBeGreaterThan(10)
  }))
