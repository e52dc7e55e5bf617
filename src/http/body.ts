import { HttpApi, HttpRouter, HttpServerError, HttpServerRequest, OpenApi } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Either, Layer, Option, Predicate, Schema, SchemaAST } from "effect"
import { getLocation } from "jsonc-parser"
import type { IncomingMessage } from "node:http"
import { formatPath } from "../schema/validation.ts"
import { formatList } from "../schema/words.ts"
import { parseJson, type ParseProblem } from "../services/parsing.ts"
import { ApiError, KnownQuery } from "./api/annotations.ts"
import { BerthApi } from "./api/BerthApi.ts"

/** Maximum size of a request body, in bytes. */
export const maxBodyBytes = 1_000_000

/** Maximum size of a body before its sender is authenticated: a log-in contains only a token. */
export const maxUnknownBodyBytes = 16_000

/** Refusal of a longer body. */
export const describeBodyTooLong = (maxBytes: number): string =>
  `The request body is over ${maxBytes < 1_000_000 ? `${maxBytes / 1_000} kB` : `${maxBytes / 1_000_000} MB`}`

const namesIn = (node: unknown): ReadonlyArray<string> => {
  if (Array.isArray(node)) return node.flatMap(namesIn)
  if (!Predicate.isRecord(node)) return []
  const properties = Predicate.isRecord(node["properties"]) ? Object.keys(node["properties"]) : []
  return [...properties, ...Object.values(node).flatMap(namesIn)]
}

let names: ReadonlySet<string> | undefined

/** Names of all fields of requests and answers, from the description of the API. */
const fieldNames = (): ReadonlySet<string> => names ??= new Set(namesIn(OpenApi.fromApi(BerthApi)))

/** Offset of a line and column in a text. */
const offsetOf = (text: string, { column, line }: ParseProblem): number => {
  let start = 0
  for (let passed = 1; passed < line; passed++) start = text.indexOf("\n", start) + 1
  return start + column - 1
}

// Shows only known field names: in broken JSON, a value that may be a credential can be in the place of a name.
const fieldAt = (text: string, problem: ParseProblem): string => {
  const path = getLocation(text, offsetOf(text, problem)).path
  const isKnown = path.every((key) => typeof key === "number" || fieldNames().has(key))
  return path.length > 0 && isKnown ? `, in ${path.join(".")}` : ""
}

const refusalOf = (text: string) => (problem: ParseProblem): ApiError => {
  const { code, column, line, reason } = problem
  const message = code === "LIMIT"
    ? `The request body cannot be read: ${reason}`
    : `The request body is not valid JSON: line ${line}, column ${column}${fieldAt(text, problem)}: ${reason}`
  return new ApiError({ status: 400, message })
}

/** Removes the byte order mark that PowerShell and some editors write. */
const withoutMark = (text: string) => text.startsWith("\uFEFF") ? text.slice(1) : text

const readJson = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<unknown, ApiError | HttpServerError.RequestError> =>
  Effect.flatMap(
    request.text,
    (text) => text === "" ? Effect.succeed(null) : Either.mapLeft(parseJson(withoutMark(text)), refusalOf(text))
  )

/** Parses the body as JSON within limits; errors contain the position. */
export const withBoundedJson = (
  request: HttpServerRequest.HttpServerRequest
): HttpServerRequest.HttpServerRequest => Object.create(request, { json: { value: readJson(request) } })

/** The body ended early: the caller disconnected, or did not send it in time. */
class CutOff extends Error {
  override readonly message = "the connection was closed before the whole body had arrived"
}

/**
 * Reads a body of known length or in chunks. Also completes on "close": a disconnect may emit neither "end" nor
 * "error", and the request's fiber is not interruptible everywhere.
 */
const readText = (source: IncomingMessage, maxBytes: number): Effect.Effect<string, ApiError | CutOff> =>
  Effect.async((resume) => {
    if (source.destroyed && !source.readableEnded) return resume(Effect.fail(new CutOff()))
    const chunks: Array<Buffer> = []
    let size = 0
    const stop = () => {
      source.off("data", add).off("end", end).off("close", cut)
      chunks.length = 0
    }
    const add = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBytes) return
      stop()
      // Drains the rest of the body: a caller that is disconnected while it sends would not receive the response.
      source.resume()
      resume(new ApiError({ status: 413, message: describeBodyTooLong(maxBytes) }))
    }
    const end = () => {
      const text = Buffer.concat(chunks).toString("utf8")
      stop()
      resume(Effect.succeed(text))
    }
    const cut = () => {
      stop()
      resume(Effect.fail(new CutOff()))
    }
    source.on("error", () => undefined).on("data", add).on("end", end).on("close", cut)
    return Effect.sync(stop)
  })

/**
 * Adds a lazily read `text` of at most `maxBytes` to a request; the body of a refused request is not read.
 * @param confirm refuses a request once its body is there, which may take minutes
 */
export const withBoundedText = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number,
  confirm: Effect.Effect<void, ApiError>
): Effect.Effect<HttpServerRequest.HttpServerRequest> =>
  readText(NodeHttpServerRequest.toIncomingMessage(request), maxBytes).pipe(
    Effect.zipLeft(confirm),
    Effect.mapError((failure) =>
      failure instanceof ApiError
        ? failure
        : new HttpServerError.RequestError({ request, reason: "Decode", cause: failure })
    ),
    Effect.cached,
    Effect.map((text) => Object.create(request, { text: { value: text } }))
  )

const mostTold = 10

const findBodyRefusal = (body: unknown): string | undefined => {
  if (body === null || body === "" || (Array.isArray(body) && body.length === 0)) return undefined
  if (!Predicate.isRecord(body)) return "This endpoint takes no request body"
  const names = Object.keys(body).slice(0, mostTold).map((name) => formatPath([name]))
  if (names.length === 0) return undefined
  const are = names.length === 1 ? "is not a known field" : "are not known fields"
  return `${formatList(names, "and")} ${are}. This endpoint takes none`
}

const refused = (message: string) => new ApiError({ status: 400, message })

/**
 * Refuses a non-empty body on an endpoint that takes none, because its fields, such as a dry run, would be ignored.
 * Empty bodies and objects are accepted.
 */
const refuseBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void, ApiError> =>
  Effect.gen(function*() {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers
    if (encoding === undefined && Number(length) === 0) return
    const body = yield* Effect.mapError(request.json, (failure: unknown) =>
      failure instanceof ApiError
        ? failure
        : refused("The request body cannot be read: it did not arrive whole, or is not text"))
    const message = findBodyRefusal(body)
    if (message !== undefined) return yield* refused(message)
  })

/** Endpoints by `POST /path`, with the names of their query parameters and if they take a body. */
const endpoints = new Map<string, {
  readonly query: ReadonlyArray<string>
  /** Parameters that may be repeated. */
  readonly lists: ReadonlyArray<string>
  readonly takesBody: boolean
}>()
const propertiesOf = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  SchemaAST.getPropertySignatures(Schema.encodedSchema(schema).ast)
HttpApi.reflect(BerthApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint: { method, path, payloadSchema, urlParamsSchema } }) =>
    void endpoints.set(`${method} ${path}`, {
      query: Option.match(urlParamsSchema, {
        onNone: () => [],
        onSome: (schema) => propertiesOf(schema).map(({ name }) => String(name))
      }),
      lists: Option.match(urlParamsSchema, {
        onNone: () => [],
        onSome: (schema) =>
          propertiesOf(schema).flatMap(({ name, type }) => SchemaAST.isTupleType(type) ? [String(name)] : [])
      }),
      takesBody: Option.isSome(payloadSchema)
    })
})

const refuse = (message: string) => new ApiError({ status: 400, message })

const repeatedIn = (names: ReadonlyArray<string>): string | undefined => {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

/** Endpoints with only query parameters, or only a body, refuse unknown fields by their schema. */
export const KnownQueryLive = Layer.succeed(
  KnownQuery,
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [, query = ""] = request.url.split(/\?([^]*)/)
    const { route } = yield* HttpRouter.RouteContext
    const endpoint = endpoints.get(`${route.method} ${route.path}`)
    const names = [...new URLSearchParams(query).keys()]
    // The schema of a query refuses unknown parameters too, but only after the body was decoded.
    const known = endpoint?.query ?? names
    const name = known.length === 0 || endpoint?.takesBody === true
      ? names.find((name) => !known.includes(name))
      : undefined
    if (name !== undefined) {
      return yield* refuse(
        `${formatPath([name])} is not a known query parameter. This endpoint takes ${known.join(", ") || "none"}`
      )
    }
    // Schemas never see it, because it is lost when the query becomes an object.
    if (names.includes("__proto__")) return yield* refuse("__proto__ is not a known query parameter")
    const repeated = repeatedIn(names.filter((name) => endpoint?.lists.includes(name) !== true))
    if (repeated !== undefined) return yield* refuse(`${formatPath([repeated])} is given more than once in the query`)
    if (endpoint?.takesBody === false && !["GET", "HEAD"].includes(request.method)) yield* refuseBody(request)
  })
)
