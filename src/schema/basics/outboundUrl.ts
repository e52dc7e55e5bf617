/** True for link-local addresses, where clouds serve the credentials of a machine. */
export const isLinkLocal = (address: string): boolean => {
  const plain = address.toLowerCase().replace(/^\[|\]$/g, "").replace(/^::ffff:(?=\d+\.)/, "")
  return /^169\.254(\.\d{1,3}){2}$/.test(plain) || /^fe[89ab][0-9a-f]:/.test(plain) || plain.startsWith("fd00:ec2:") ||
    // IPv4-mapped IPv6 address, as URLs write it.
    plain.startsWith("::ffff:a9fe:")
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
