import { expect, layer } from "@effect/vitest"
import { Config, Context, Effect, FastCheck, Layer, Option } from "effect"
import { Agent, request as send } from "node:http"
import { collectRequiredAccess } from "../../../src/http/api/annotations.ts"
import { BerthApi } from "../../../src/http/api/BerthApi.ts"
import { addressOf, operations } from "../../fixtures/hostile/operations.ts"
import { patience } from "../../fixtures/patience.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"
import { tellRan } from "../../fixtures/ran.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const html = "<!doctype html><title>The page</title>"
const settings = `http:
  token: token-of-an-operator
  tokens: [{ name: Vic, token: token-of-a-viewer, role: viewer }]
`

class Port extends Context.Tag("test/Port")<Port, number>() {}
const Started = Layer.scoped(
  Port,
  Effect.gen(function*() {
    const page = yield* temporaryDirectory
    yield* plant(page, { "index.html": html })
    return (yield* startService(yield* settingsFileWith(settings), "127.0.0.1", { page })).port
  })
)

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

// Clients of a higher level normalize a path themselves.
const ask = (
  agent: Agent,
  port: number,
  { headers, method, path }: Asked
): Effect.Effect<{ readonly status: number; readonly text: string }> =>
  Effect.async((resume) => {
    const body = method === "GET" || method === "HEAD" ? undefined : "{\"nothing\":1}"
    const sent = send({
      agent,
      port,
      method,
      path,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) }
    }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part) => text += part)
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode ?? 0, text })))
    })
    // The service may close a kept connection at the moment in which it is used again.
    sent.on("error", (cause) =>
      resume(sent.reusedSocket ? ask(agent, port, { headers, method, path }) : Effect.die(cause)))
    sent.end(body)
  })

const access = collectRequiredAccess(BerthApi)
const targets = [
  ...operations.map((operation) => ({
    method: operation.method,
    path: addressOf(operation, { path: { id: "none", uuid: "none", name: "none" } }),
    access: Option.getOrThrow(
      access.get(`${operation.method} ${operation.path.replace(/\{(\w+)\}/g, ":$1")}`) ?? Option.none()
    )
  })),
  ...["GET", "POST", "DELETE"].map((method) => ({ method, path: "/mcp", access: "viewer" as const })),
  { method: "GET", path: "/api/health?deep=true", access: "viewer" as const }
]

const hex = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`
const letterOf = (letter: string) =>
  FastCheck.oneof(
    { weight: 12, arbitrary: FastCheck.constant(letter) },
    { weight: 2, arbitrary: FastCheck.constantFrom(letter.toUpperCase(), letter.toLowerCase()) },
    {
      weight: 2,
      arbitrary: FastCheck.constantFrom(hex(letter), hex(letter).toUpperCase(), `%25${hex(letter).slice(1)}`)
    },
    ...letter === "/"
      // A semicolon in the middle ends the path, which may then be that of another endpoint.
      ? [{ weight: 4, arbitrary: FastCheck.constantFrom("//", "///", "/./", "/x/../", "%2f", "\\", "/%2e/") }]
      : letter === "k" || letter === "s"
      ? [{ weight: 1, arbitrary: FastCheck.constant(letter === "k" ? "%E2%84%AA" : "%C5%BF") }]
      : []
  )
const before = FastCheck.constantFrom("", "", "", "", "/", "/.", "/%2e", "/x/..", "/;")
const after = FastCheck.constantFrom(
  "",
  "",
  "",
  "/",
  "//",
  ";x",
  ";/x",
  "#x",
  "?",
  "?x=1",
  "%20",
  "%00",
  "/.",
  "/..",
  ".json",
  "%ff"
)
const spellingOf = (path: string) =>
  FastCheck.tuple(before, FastCheck.tuple(...Array.from(path, letterOf)), after).map(([first, letters, last]) =>
    `${first}${letters.join("")}${last}`
  )

const optionally = (headers: Readonly<Record<string, string>>) => FastCheck.constantFrom({}, headers)
const headersOf = FastCheck.tuple(
  optionally({ accept: "text/html,*/*" }),
  optionally({ "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-site": "none" }),
  FastCheck.constantFrom({}, { "berth-door": "mcp" }, { "berth-door": "web" }, { prefer: "respond-async" }),
  FastCheck.constantFrom({}, { "x-original-url": "/" }, { "x-http-method-override": "GET" }, {
    "idempotency-key": "a"
  }),
  FastCheck.constantFrom({}, { cookie: `berth_session=${"a".repeat(43)}` })
).map((all): Readonly<Record<string, string>> => Object.assign({}, ...all))

const roles = FastCheck.constantFrom(
  { role: "anonymous" as const, headers: {} },
  { role: "anonymous" as const, headers: { authorization: "Basic token-of-an-operator" } },
  { role: "viewer" as const, headers: { authorization: "Bearer token-of-a-viewer" } }
)

const asked = FastCheck.constantFrom(...targets).chain((target) =>
  FastCheck.record({
    target: FastCheck.constant(target),
    path: spellingOf(target.path),
    headers: headersOf,
    role: roles
  })
)

/** Refusals of requests for which nothing was done. */
const refusals = new RegExp(`^\\{"error":"(${
  [
    "A bearer token is required",
    "Malformed HTTP request",
    "No such endpoint",
    "[A-Z]+ is not allowed on",
    "This needs the role operator",
    "[^\"]*agents may only read",
    "x is not a known query parameter"
  ].join("|")
})`)

layer(Started)("a path in any spelling", (it) => {
  it.effect(
    "gets no further than the plain one, for any role and with any headers",
    (context) =>
      Effect.gen(function*() {
        const port = yield* Port
        const seed = yield* Config.withDefault(Config.integer("BERTH_FUZZ_SEED"), Date.now() % 2 ** 31)
        const count = 5 * (yield* Config.withDefault(Config.integer("BERTH_FUZZ_REQUESTS"), 100))
        const agent = yield* Effect.acquireRelease(
          Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 8 })),
          (agent) => Effect.sync(() => agent.destroy())
        )
        const further = yield* Effect.forEach(
          FastCheck.sample(asked, { seed, numRuns: count }),
          ({ headers, path, role, target }) =>
            Effect.gen(function*() {
              const isOpen = target.access === "anyone" || target.access === "anyone without parameters" ||
                (role.role === "viewer" && target.access === "viewer")
              const { status, text } = yield* ask(agent, port, {
                method: target.method,
                path,
                headers: { ...headers, ...role.headers }
              })
              const isPage = status === 200 && (text === html || text.startsWith("Berth "))
              return isOpen || isPage || refusals.test(text)
                ? []
                : [`${role.role} ${target.method} ${path} ${JSON.stringify(headers)}: ${status} ${text.slice(0, 200)}`]
            }),
          { concurrency: 8 }
        )
        expect(further.flat(), `BERTH_FUZZ_SEED=${seed}`).toEqual([])
        tellRan(context, { what: "spellings", count, by: `BERTH_FUZZ_SEED=${seed}` })
      }).pipe(Effect.scoped),
    { timeout: 300_000 * patience }
  )
})
