import { HttpServerResponse } from "@effect/platform"
import { Option } from "effect"
import { createHash } from "node:crypto"

const always = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin"
}

const scripts = /<script\b(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/gi

/**
 * Content security policy that allows only the page's own scripts and connections to this service. The reference page
 * hashes with WebAssembly and stays empty without it: `wasm-unsafe-eval` allows that, but not `eval`.
 */
export const buildContentSecurityPolicy = (html: string): string => {
  const hashes = Array.from(
    html.matchAll(scripts),
    ([, script]) => `'sha256-${createHash("sha256").update(script ?? "").digest("base64")}'`
  )
  return [
    "default-src 'none'",
    `script-src ${hashes.length === 0 ? "'none'" : `${hashes.join(" ")} 'wasm-unsafe-eval'`}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

const policies = new WeakMap<Uint8Array, string>()
const policyOf = (page: Uint8Array): string => {
  const policy = policies.get(page) ?? buildContentSecurityPolicy(new TextDecoder().decode(page))
  policies.set(page, policy)
  return policy
}

/** Adds the headers of every answer, and those for a page or a listed origin. */
export const withSecurityHeaders = (
  response: HttpServerResponse.HttpServerResponse,
  origin: Option.Option<string>
): HttpServerResponse.HttpServerResponse => {
  const { body, headers } = response
  const isPage = body._tag === "Uint8Array" && body.contentType.startsWith("text/html")
  return HttpServerResponse.setHeaders(response, {
    ...always,
    // The web page and its assets set their own cache control and content security policy.
    "cache-control": headers["cache-control"] ?? always["cache-control"],
    ...(isPage
      ? {
        "content-security-policy": headers["content-security-policy"] ?? policyOf(body.body),
        "x-frame-options": "DENY"
      }
      : {}),
    ...(Option.isSome(origin)
      ? {
        "access-control-allow-origin": origin.value,
        "access-control-expose-headers": "berth-run, location, preference-applied, mcp-session-id",
        "cross-origin-resource-policy": "cross-origin",
        "vary": "Origin"
      }
      : {})
  })
}

/** Response to the CORS preflight of a listed origin. */
export const preflightResponse = HttpServerResponse.empty({
  status: 204,
  headers: {
    "access-control-allow-methods": "GET, POST, PATCH, DELETE",
    "access-control-allow-headers":
      "content-type, authorization, prefer, idempotency-key, last-event-id, mcp-session-id, mcp-protocol-version, " +
      "mcp-method, mcp-name",
    "access-control-max-age": "600"
  }
})
