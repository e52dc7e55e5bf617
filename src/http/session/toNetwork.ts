const groupsOf = (text: string) => text.split(":").filter((group) => group !== "")

/**
 * Key that tells callers apart: an IPv4 address, also if mapped into IPv6, or the /64 network of an IPv6 address, since
 * one owner usually has the whole network.
 */
export const toNetwork = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address
  const [before = "", after] = address.split("::")
  const [first, last] = [groupsOf(before), groupsOf(after ?? "")]
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0")
  return `${[...first, ...zeros, ...last].slice(0, 4).join(":")}::/64`
}
