const address = /^(https?|h2c):\/\/([^/?#@]*?)(?::(\d{1,5}))?(?=[/?#]|$)/i
const schemePort = (scheme: string) => (scheme.toLowerCase() === "https" ? 443 : 80)

/** Host and port of a server's URL. */
export const parseHostAndPort = (url: string) => {
  const [, scheme, host, port] = address.exec(url) ?? []
  return scheme === undefined || host === undefined
    ? undefined
    : { host: host.toLowerCase(), port: port === undefined ? schemePort(scheme) : Number(port) }
}

/** True if a server's URL has this port and one of these hosts. */
export const isUrlOfPort = (url: string, hosts: ReadonlyArray<string>, port: number) => {
  const place = parseHostAndPort(url)
  return place !== undefined && place.port === port && hosts.includes(place.host)
}

/** Replaces the port of a URL. The scheme's default port is omitted, so that a move and its reverse cancel out. */
export const withPort = (url: string, port: number): string =>
  url.replace(
    address,
    (_, scheme: string, host: string) => `${scheme}://${host}${port === schemePort(scheme) ? "" : `:${port}`}`
  )

/** False if the URL has a redundant port, which a move and its reverse would remove. */
export const isReversible = (url: string) => {
  const [, scheme = "", , port] = address.exec(url) ?? []
  return port === undefined || (Number(port) !== schemePort(scheme) && String(Number(port)) === port)
}
