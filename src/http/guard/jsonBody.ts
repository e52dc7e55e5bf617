import { type HttpServerError, type HttpServerRequest, OpenApi } from "@effect/platform"
import { Effect, Either, Predicate } from "effect"
import { getLocation } from "jsonc-parser"
import { parseJson } from "../../services/parsing/json.ts"
import type { ParseProblem } from "../../services/parsing/ParseProblem.ts"
import { ApiError } from "../api/annotations/ApiError.ts"
import { BerthApi } from "../api/BerthApi.ts"

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
