const groupsOf = (text: string) => text.split(":").filter((group) => group !== "")

/**
 * Address by which callers are told apart: an IPv4 address, also one that is mapped into IPv6, or the /64 network of an
 * IPv6 address, since the owner of one of its addresses usually has all of them.
 */
export const toNetwork = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address
  const [before = "", after] = address.split("::")
  const [first, last] = [groupsOf(before), groupsOf(after ?? "")]
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0")
  return `${[...first, ...zeros, ...last].slice(0, 4).join(":")}::/64`
}
