import { HttpApi, HttpApiBuilder, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { version } from "../schema/version.ts"
import { makeOnce } from "../services/fibers/makeOnce.ts"
import { Settings } from "../services/settings/Settings.ts"
import { buildReferencePage, buildSpecResponse, withToken } from "./reference.ts"
import { requiresToken } from "./session/holders.ts"
import { makeWebPage } from "./webPage.ts"
import { makeEndpointNotFound } from "./wire/makeEndpointNotFound.ts"
import { normalizeTarget } from "./wire/requestTarget.ts"

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
