import { networkInterfaces } from "node:os"

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, "")

/** Tells whether the host of an address is one of this machine's own. */
export const isOfThisMachine = (address: string): boolean => {
  if (!URL.canParse(address)) return false
  const { hostname, protocol } = new URL(address)
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []).map((one) => one.address)
  return protocol === "http:" && (/^127(?:\.\d+){3}$/.test(hostname) || ["::1", ...own].includes(bare(hostname)))
}
