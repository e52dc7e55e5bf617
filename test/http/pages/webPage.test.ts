import { HttpServerRequest } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { makeWebPage, PageDirectory } from "../../../src/http/pages.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const request = HttpServerRequest.fromWeb(new Request("http://localhost/", { headers: { "accept-encoding": "br" } }))

const makeScene = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  yield* plant(directory, { "index.html": "first", "assets/main-abc.js": "plain", "assets/main-abc.js.br": "brotli" })
  const { asset, page } = yield* Effect.provide(makeWebPage, NodeContext.layer)
  const bytesOf = (answer: typeof page) =>
    Effect.map(answer, Option.map(({ body }) => body._tag === "Uint8Array" ? body.body : undefined)).pipe(
      Effect.map(Option.getOrUndefined),
      Effect.provideService(PageDirectory, directory),
      Effect.provideService(HttpServerRequest.HttpServerRequest, request)
    )
  const text = Effect.map(bytesOf(page), (bytes) => new TextDecoder().decode(bytes))
  return { directory, bytesOf, page, text, main: asset("/assets/main-abc.js"), none: asset("/assets/none.js") }
})

describe("the files of the web page", () => {
  it.scopedLive("are in memory once, however many answers wait for slow callers", () =>
    Effect.gen(function*() {
      const { bytesOf, main, page } = yield* makeScene
      for (const answer of [page, main]) {
        const [first, ...others] = yield* Effect.replicateEffect(bytesOf(answer), 64, { concurrency: "unbounded" })
        expect(first?.length).toBeGreaterThan(0)
        expect(others.every((bytes) => bytes === first)).toBe(true)
        expect(yield* bytesOf(answer)).toBe(first)
      }
    }))

  it.scopedLive("are read again when they have changed, or are there at last", () =>
    Effect.gen(function*() {
      const { bytesOf, directory, none, text } = yield* makeScene
      expect(yield* text).toBe("first")
      expect(yield* bytesOf(none)).toBeUndefined()
      yield* plant(directory, { "index.html": "the second", "assets/none.js": "there" })
      expect(yield* text).toBe("the second")
      expect((yield* bytesOf(none))?.length).toBe(5)
    }))
})
