import { Predicate } from "effect"
import { accessKey } from "./access.ts"
import { hostCookie, plainCookie } from "./cookieNames.ts"
import type { Failures } from "./failures.ts"
import { tidySpec } from "./tidySpec.ts"

type Node = { [key: string]: unknown }
const isNode = (value: unknown): value is Node => Predicate.isRecord(value)
const at = (node: Node, key: string): Node => {
  const value = node[key]
  return isNode(value) ? value : {}
}

const errorResponse = (description: string) => ({
  description,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } }
})

const viewersRefused = "Or the token is a viewer's."

/** True if a body decodes from `null`, so that requests may omit it. */
const acceptsNull = (body: Node): boolean => {
  const schema = at(at(at(body, "content"), "application/json"), "schema")
  const options = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []
  return options.some((option) => isNode(option) && option["type"] === "null")
}

const operation = (failures: ReadonlyMap<string, Failures>) => (node: Node): Node => {
  const responses = at(node, "responses")
  const answers = Object.entries(responses).filter(([status]) => status.startsWith("2"))
  const body = node["requestBody"]
  // The generator's empty `security` would exempt the operation from the token that all operations require.
  const { security: _, ...others } = node
  const needsOperator = node[accessKey] === "operator"
  return {
    ...others,
    ...(String(node[accessKey]).startsWith("anyone") ? { security: [] } : {}),
    ...(isNode(body) ? { requestBody: { ...body, required: !acceptsNull(body) } } : {}),
    responses: {
      ...Object.fromEntries(answers),
      ...Object.fromEntries(
        (failures.get(String(node["operationId"])) ?? []).map(([status, when]) => [
          status,
          errorResponse(status === "403" && needsOperator ? `${when} ${viewersRefused}` : when)
        ])
      )
    }
  }
}

const mapValues = (node: Node, f: (value: Node) => Node): Node =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, isNode(value) ? f(value) : value]))

/**
 * Adds the actual failures and optional request bodies to the generated description, and removes parts that do not help
 * a reader.
 */
export const documentFailures = (failures: ReadonlyMap<string, Failures>) => (spec: Node): Node =>
  tidySpec({ ...spec, paths: mapValues(at(spec, "paths"), (path) => mapValues(path, operation(failures))) })

/** Adds the security schemes of a service that requires a token, so that API tools offer to send one. */
export const documentSecurity = (spec: Node): Node => {
  const components = at(spec, "components")
  const token = {
    type: "http",
    scheme: "bearer",
    description: "`http.token` or one of `http.tokens` in the service's settings."
  }
  const cookie = (name: string, scheme: string) => ({
    type: "apiKey",
    in: "cookie",
    name,
    description: `Cookie that POST /api/session leaves in a browser, for the service's pages on ${scheme}.`
  })
  const session = cookie(hostCookie, "https")
  const plainSession = cookie(plainCookie, "http")
  return {
    ...spec,
    components: { ...components, securitySchemes: { token, session, plainSession } },
    security: [{ token: [] }, { session: [] }, { plainSession: [] }]
  }
}
