/**
 * Server ports that a container uses: `first` to `last`, of one protocol and one address; an empty address means all.
 */
export interface PortRange {
  readonly first: number
  readonly last: number
  readonly address: string
  readonly protocol: string
}

const anyAddress = new Set(["", "0.0.0.0", "::", "*"])

/** First and last port of "80" or "8000-8010"; undefined for anything else. */
export const parsePortBounds = (ports: string): readonly [first: number, last: number] | undefined => {
  const [, from = "", to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(ports) ?? []
  const [first, last] = [Number(from), Number(to)]
  return from !== "" && first >= 1 && first <= last && last <= 65_535 ? [first, last] : undefined
}

/** Parses a range of ports as written by Docker and Compose; empty if it is invalid. */
export const parsePortRange = (ports: string, address: string, protocol: string): ReadonlyArray<PortRange> => {
  const range = parsePortBounds(ports)
  const bare = address.replace(/^\[(.*)\]$/, "$1")
  return range === undefined ? [] : [{
    first: range[0],
    last: range[1],
    address: anyAddress.has(bare) ? "" : bare,
    protocol: protocol.toLowerCase()
  }]
}
