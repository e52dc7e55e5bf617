import { FileSystem, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Cache, Context, Data, Duration, Effect, Option } from "effect"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Built code has the page in a sibling directory; sources that run unbuilt use the one in `dist`.
const builtPage = (): string => {
  const near = beside("../page")
  return existsSync(near) ? near : beside("../../dist/page")
}

/** Directory of the built web page: `index.html`, and its files in `assets/`. */
export class PageDirectory extends Context.Reference<PageDirectory>()("berth/PageDirectory", {
  defaultValue: builtPage
}) {}

/**
 * Content security policy of the page: own scripts only, no markup from strings, no embedding in frames, connections to
 * this service only.
 */
export const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; " +
  "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'"

const types = new Map([
  ["js", "text/javascript; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["html", "text/html; charset=utf-8"],
  ["svg", "image/svg+xml"],
  ["woff2", "font/woff2"]
])

const compressions = [["br", ".br"], ["gzip", ".gz"]] as const

/** True if a caller accepts this content coding with a weight above 0. */
const takes = (accepted: string, coding: string) =>
  accepted.split(",").some((each) => {
    const [name = "", ...weights] = each.split(";").map((part) => part.trim())
    return name.toLowerCase() === coding && !weights.some((weight) => /^q=0(\.0*)?$/i.test(weight))
  })

/** Identity of a page file by path, size and modification time. */
class FileState extends Data.Class<{
  readonly path: string
  readonly size: number
  readonly modifiedAt: number
}> {}

/** Larger than the file count of two builds, so that a rebuild does not evict current files. */
const mostFiles = 500

/**
 * Reads and caches the page's files until they change. Anonymous callers may read answers as slowly as they like, so
 * all answers share the same bytes; copies would fill the memory.
 */
const makeReader = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const known = yield* Cache.make({
    capacity: mostFiles,
    timeToLive: Duration.infinity,
    lookup: ({ path }: FileState) => files.readFile(path)
  })
  return (path: string): Effect.Effect<Option.Option<Uint8Array>> =>
    files.stat(path).pipe(
      Effect.flatMap(({ mtime, size }) => {
        const modifiedAt = Option.getOrElse(Option.map(mtime, (date) => date.getTime()), () => 0)
        const state = new FileState({ path, size: Number(size), modifiedAt })
        // Uninterruptible: a caller that disconnects must not fail others that wait for the same bytes. Failures are
        // not cached.
        return Effect.uninterruptible(Effect.tapError(known.get(state), () => known.invalidate(state)))
      }),
      Effect.option
    )
})

const assetName = /^\/assets\/([A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:js|css|svg|woff2))$/

/** Serves files of the built page; none if the file does not exist. */
export const makeWebPage = Effect.gen(function*() {
  const read = yield* makeReader

  /**
   * Answers with the smallest precompressed variant of a file that the caller accepts. `path` is relative to the page's
   * directory and never supplied by a caller.
   */
  const file = (path: string, headers: Readonly<Record<string, string>>) =>
    Effect.gen(function*() {
      const directory = yield* PageDirectory
      const request = yield* HttpServerRequest.HttpServerRequest
      const accepted = request.headers["accept-encoding"] ?? ""
      const contentType = types.get(path.slice(path.lastIndexOf(".") + 1)) ?? "application/octet-stream"
      const answer = (ending: string, encoding: Readonly<Record<string, string>>) =>
        Effect.map(
          read(`${directory}/${path}${ending}`),
          Option.map((bytes) =>
            HttpServerResponse.uint8Array(bytes, {
              contentType,
              headers: { ...headers, ...encoding, vary: "Accept-Encoding" }
            })
          )
        )
      for (const [coding, ending] of compressions) {
        if (!takes(accepted, coding)) {
          continue
        }
        const found = yield* answer(ending, { "content-encoding": coding })
        if (Option.isSome(found)) {
          return found
        }
      }
      return yield* answer("", {})
    })

  return {
    /** Asset of the page. Its name changes with its content, so that it can be cached forever. */
    asset: (path: string) => {
      const name = assetName.exec(path)?.[1]
      return name === undefined
        ? Effect.succeedNone
        : file(`assets/${name}`, { "cache-control": "public, max-age=31536000, immutable" })
    },
    /** The page itself, which refers to the assets of its own build. */
    page: file("index.html", { "cache-control": "no-cache", "content-security-policy": pagePolicy })
  }
})
