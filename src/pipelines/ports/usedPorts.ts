import { Predicate } from "effect"

const numberOf = (ip: string): number | undefined => {
  const octets = ip.split(".").map(Number)
  return octets.length === 4 && octets.every((octet) => octet <= 255)
    ? octets.reduce((sum, octet) => sum * 256 + octet, 0)
    : undefined
}

/** True if an address is in a subnet such as `192.168.1.0/24`. */
const inSubnet = (subnet: string) => (ip: string): boolean => {
  const [base = "", length = "32"] = subnet.split("/")
  const [network, address] = [numberOf(base), numberOf(ip)]
  const size = 2 ** (32 - Number(length))
  return network !== undefined && address !== undefined && Math.floor(network / size) === Math.floor(address / size)
}

const privateSubnets = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]

/** A port used behind the proxy, and its address in the proxy file. */
export interface ProxyTarget {
  readonly port: number
  readonly url: string
}

/**
 * Upstream addresses in the proxy file, in the order of the file. Counts only those within the subnet; without a
 * subnet, all private ones.
 */
export const listProxyTargets = (text: string, subnet?: string): ReadonlyArray<ProxyTarget> => {
  const subnets = (subnet === undefined ? privateSubnets : [subnet]).map(inSubnet)
  return Array.from(
    text.matchAll(/http:\/\/(\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})(?!\d)/g),
    ([url, ip, port]) =>
      ip !== undefined && subnets.some((contains) => contains(ip)) ? { port: Number(port), url } : undefined
  ).filter(Predicate.isNotUndefined).filter(({ port }) => port >= 1 && port <= 65535)
}

/** Ports of `proxyTargets`, ascending and without duplicates. */
export const listUsedPorts = (text: string, subnet?: string): ReadonlyArray<number> =>
  Array.from(new Set(listProxyTargets(text, subnet).map(({ port }) => port))).sort((one, other) => one - other)
