/** Prefixes of IPv6 addresses that lead to an IPv4 address: mapped, compatible, NAT64 and 6to4. */
const embedding = /^(?:::(?:ffff:(?:0:)?)?|64:ff9b::|2002:)(?=\d+\.|a9fe:)/

/**
 * True for link-local addresses, where clouds serve the credentials of a machine, and for the other addresses where they
 * do.
 */
export const isLinkLocal = (address: string): boolean => {
  const plain = address.toLowerCase().replace(/^\[|\]$|\.$/g, "").replace(embedding, "")
  return /^169\.254(\.\d{1,3}){2}$/.test(plain) || /^fe[89ab][0-9a-f]:/.test(plain) || plain.startsWith("fd00:ec2:") ||
    // The last 32 bits of an IPv6 address, as URLs write them.
    plain.startsWith("a9fe:") || plain === "100.100.100.200" || /(?:^|:)6464:64c8$/.test(plain)
}

/** Reason to refuse the address of an upstream; undefined if it may be used. */
export const upstreamUrlRefusal = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return "is not an http:// or https:// address"
  return isLinkLocal(url.hostname) ? "must not be a link-local address" : undefined
}

/** True for loopback names and addresses. */
export const isThisMachine = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

/** Reason to refuse the URL of an outgoing request; undefined if it may be used. */
export const outboundUrlRefusal = (text: string): string | undefined => {
  if (!URL.canParse(text)) return "must be an https:// address"
  const { hostname, password, protocol, username } = new URL(text)
  if (protocol !== "https:" && !(protocol === "http:" && isThisMachine(hostname))) {
    return "must be an https:// address, or an http:// one of this machine"
  }
  if (username !== "" || password !== "") return "must not contain a user or a password"
  return isLinkLocal(hostname) ? "must not be a link-local address" : undefined
}
