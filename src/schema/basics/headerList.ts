const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** Headers that the HTTP client sets itself. */
const ofRequest = /^(?:connection|content-.*|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const pairsOf = (text: string) =>
  text.split(",").map((part) => {
    const at = part.indexOf("=")
    return { name: part.slice(0, at).trim(), value: at < 1 ? undefined : decoded(part.slice(at + 1).trim()) }
  })

/**
 * Reason why a string is not a list of headers; undefined if it is. Never repeats the input, which may contain a
 * secret.
 */
export const findHeadersRefusal = (text: string): string | undefined => {
  const pairs = pairsOf(text)
  if (pairs.some(({ name, value }) => !token.test(name) || value === undefined || !/^[\x20-\x7e]+$/.test(value))) {
    return "must be headers like Authorization=Bearer%20TOKEN, separated by commas"
  }
  return pairs.some(({ name }) => ofRequest.test(name)) ? "must not name headers that a request itself has" : undefined
}

/** Parses a list of headers in the form of `OTEL_EXPORTER_OTLP_HEADERS`: names and percent-encoded values. */
export const parseHeaderList = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    pairsOf(text).flatMap(({ name, value }) => value === undefined ? [] : [[name.toLowerCase(), value]])
  )
