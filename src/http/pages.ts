import { FileSystem, HttpApi, HttpApiBuilder, HttpServerRequest, HttpServerResponse, OpenApi } from "@effect/platform"
import { Cache, Context, Data, Duration, Effect, Either, Layer, Option } from "effect"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { version } from "../schema/session.ts"
import { makeOnce } from "../services/limits.ts"
import { Settings } from "../services/settings/Settings.ts"
import { collectFailures } from "./api/annotations.ts"
import { documentFailures, documentSecurity } from "./api/openApi.ts"
import { requiresToken } from "./guard.ts"
import { makeEndpointNotFound, normalizeTarget } from "./requestTarget.ts"

/** API with the context that its description requires. */
type Described = HttpApi.Api["Type"]

/** Description of the API for a service that requires a token. */
export const withToken = ({ api, context }: Described): Described => ({
  api: api.annotate(OpenApi.Transform, (spec) => documentSecurity(documentFailures(collectFailures(api))(spec))),
  context
})

/** The description of the API. */
const buildSpecResponse = ({ api }: Described): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(OpenApi.fromApi(api))

/** Interactive reference of the API. Its script is larger than the rest of the service, so it is loaded only here. */
const buildReferencePage = (described: Described) =>
  Effect.gen(function*() {
    const { layer } = yield* Effect.promise(() => import("@effect/platform/HttpApiScalar"))
    const routes = layer({ path: "/reference", scalar: { withDefaultFonts: false } }).pipe(
      Layer.provideMerge(HttpApiBuilder.Router.Live),
      Layer.provide(Layer.succeed(HttpApi.Api, described))
    )
    return Effect.orDie(yield* Effect.provide(HttpApiBuilder.Router.router, routes))
  })

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

const welcomeText = `Berth ${version}

/reference     the interactive reference of the API
/openapi.json  its OpenAPI description
/api/health    whether the service is well
`

const welcomePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Berth</title>
<h1>Berth ${version}</h1>
<p>The web page is not built: run <code>npm run build</code>, and load this again.</p>
<ul>
<li><a href="/reference">The interactive reference of the API</a>
<li><a href="/openapi.json">Its OpenAPI description</a>
<li><a href="/api/health">Whether the service is well</a>
</ul>
</html>
`

/** Pages that need no token: the web page, the description of the API and its reference. */
export const Pages = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const api = yield* HttpApi.Api
    const { asset, page } = yield* makeWebPage
    const pages = (described: typeof api) =>
      Effect.all({
        description: makeOnce(Effect.sync(() => buildSpecResponse(described))),
        reference: Effect.map(makeOnce(buildReferencePage(described)), Effect.flatten)
      })
    const open = yield* pages(api)
    const locked = yield* pages(withToken(api))
    const shown = Effect.map(settings.guard, (guard) => requiresToken(guard) ? locked : open)
    /** The root: the page for browsers, a pointer to the API for programs. */
    const welcome = Effect.gen(function*() {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      if (!headers["accept"]?.includes("text/html")) return HttpServerResponse.text(welcomeText)
      return Option.getOrElse(yield* page, () => HttpServerResponse.html(welcomePage))
    })

    /** Serves other paths: assets, the page for browsers, otherwise a failure. */
    const elsewhere = Effect.gen(function*() {
      const { headers, method, url } = yield* HttpServerRequest.HttpServerRequest
      const target = Either.getOrUndefined(normalizeTarget(method, url))
      const found = target?.destination._tag === "Screen" && headers["accept"]?.includes("text/html") === true
        ? yield* page
        : yield* asset(target?.path ?? "")
      return yield* Option.match(found, { onNone: () => makeEndpointNotFound({ method, url }), onSome: Effect.succeed })
    })

    yield* router.get("/", welcome)
    yield* router.get("/*", elsewhere)
    yield* router.get("/openapi.json", Effect.flatMap(shown, ({ description }) => description))
    yield* router.get("/reference", Effect.flatMap(shown, ({ reference }) => reference))
  })
)
