import { Array, Predicate } from "effect"
import { parsePortBounds, parsePortRange, type PortRange } from "../../../remote/deploy/portRange.ts"

const mostRanges = 1_000

/** True if two containers cannot publish both. */
export const isOverlapping = (one: PortRange, other: PortRange): boolean =>
  one.protocol === other.protocol && one.first <= other.last && other.first <= one.last &&
  (one.address === "" || other.address === "" || one.address === other.address)

const lengthOf = (ports: string): number => {
  const range = parsePortBounds(ports)
  return range === undefined ? 0 : range[1] - range[0]
}

/**
 * Docker picks any free port from a published range that is longer than the container's, so no fixed port is needed.
 */
const needed = (published: string, target: string, address: string, protocol: string) =>
  lengthOf(published) > lengthOf(target) ? [] : parsePortRange(published, address, protocol)

const short = (written: string): ReadonlyArray<PortRange> => {
  const [, address = "", published = "", target = "", protocol = "tcp"] =
    /^(?:(\[[^\]]*\]|[^:[\]]*):)?([\d-]*):([\d-]+)(?:\/(\w+))?$/.exec(written) ?? []
  return needed(published, target, address, protocol)
}

const word = (value: unknown): string => Predicate.isString(value) || Predicate.isNumber(value) ? String(value) : ""

/**
 * Fixed server ports that a service of a compose file publishes.
 * @param filledIn substitutes the variables
 */
export const listPublishedPorts = (ports: unknown, filledIn: (written: string) => string): ReadonlyArray<PortRange> =>
  (Array.isArray(ports) ? ports.slice(0, mostRanges) : []).flatMap((port: unknown): ReadonlyArray<PortRange> => {
    const text = (value: unknown) => filledIn(word(value)).trim()
    if (!Predicate.isRecord(port)) return short(text(port))
    return needed(text(port["published"]), text(port["target"]), text(port["host_ip"]), text(port["protocol"]) || "tcp")
  })
