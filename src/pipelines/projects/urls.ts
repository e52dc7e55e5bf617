// Links to what a server publishes.

/** Maximum number of links of a project. */
export const mostUrls = 20

export const isLoopback = (host: string): boolean => /^127\.|^::1$|^localhost$/i.test(host)

export const bracketAddress = (host: string): string => host.includes(":") ? `[${host}]` : host

/** Builds a link; none if special characters in the host would change its target. */
export const linkTo = (scheme: "http" | "https", host: string): ReadonlyArray<string> => {
  const url = `${scheme}://${host}`
  // A URL's origin omits the default port of its scheme.
  const usualPort = scheme === "https" ? /:443$/ : /:80$/
  return URL.canParse(url) && new URL(url).origin === url.toLowerCase().replace(usualPort, "") ? [url] : []
}

/**
 * Builds a link to a published port of a server; none for a loopback address of another machine.
 * @param host address of the server
 */
export const linkToPort = (
  host: string,
  { address, isEncrypted, port }: {
    /** Bind address; empty for all addresses. */
    readonly address: string
    readonly port: number
    readonly isEncrypted: boolean
  }
): ReadonlyArray<string> =>
  isLoopback(address) && !isLoopback(host)
    ? []
    : linkTo(isEncrypted ? "https" : "http", `${bracketAddress(address === "" ? host : address)}:${port}`)
