import { FileSystem, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Cache, Context, Data, Duration, Effect, Option } from "effect"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Built code lies in a folder beside the page's; sources that run as they are find it in `dist`.
const builtPage = (): string => {
  const near = beside("../page")
  return existsSync(near) ? near : beside("../../dist/page")
}

/** The directory of the built web page: `index.html`, and `assets/` with the files that it loads. */
export class PageDirectory extends Context.Reference<PageDirectory>()("berth/PageDirectory", {
  defaultValue: builtPage
}) {}

/** The page runs its own scripts alone, makes no markup from text, is shown in no frame, and talks to nobody but this service. */
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

/** Identity of a file of the page by path, size and time of change. */
class FileState extends Data.Class<{
  readonly path: string
  readonly size: number
  readonly modifiedAt: number
}> {}

/** More states than the files of two builds, so that a rebuilt page does not push its own files out. */
const mostFiles = 500

/**
 * Reads the page's files, each once as long as it stays as it is. Everybody may ask for them, and take as long as they
 * like over the answer: all answers share the same bytes, or a few slow callers would fill the memory.
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
        // A caller that leaves must not fail the others that wait for the same bytes; nor does a failure stay.
        return Effect.uninterruptible(Effect.tapError(known.get(state), () => known.invalidate(state)))
      }),
      Effect.option
    )
})

const assetName = /^\/assets\/([A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:js|css|svg|woff2))$/

/** Serves files of the built page; none if there is no such file. */
export const makeWebPage = Effect.gen(function*() {
  const read = yield* makeReader

  /**
   * Answers with a file in the smallest form that was made at its build and that the caller takes. `path` is relative to
   * the page's directory and never a caller's own.
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
    /** A file that the page loads: its name changes with its content, so it may be kept for ever. */
    asset: (path: string) => {
      const name = assetName.exec(path)?.[1]
      return name === undefined
        ? Effect.succeedNone
        : file(`assets/${name}`, { "cache-control": "public, max-age=31536000, immutable" })
    },
    /** The page itself, which names the assets of the build that it belongs to. */
    page: file("index.html", { "cache-control": "no-cache", "content-security-policy": pagePolicy })
  }
})
