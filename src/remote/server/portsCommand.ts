import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./ports.sh.ts"

/** A port in use on a server, and its user. */
export interface ServerPort {
  readonly port: number
  readonly kind: "socket" | "container"
  /** Listening address, or the container's name. */
  readonly what: string
}

/** Users of ports on a server, and the sources that could not be read. */
export interface ServerPorts {
  readonly ports: ReadonlyArray<ServerPort>
  readonly unread: ReadonlyArray<string>
}

/** Lists the addresses that programs of a server listen on, and the ports that Docker publishes there. */
export const portsCommand = (sudo: boolean): RemoteCommand => ({
  what: "listing the ports in use",
  script,
  args: [],
  sudo
})

const bytes = (hex: string) => hex.match(/../g) ?? []

/** Reverses the bytes of each word, which the kernel prints in little-endian order. */
const kernelAddress = (hex: string): string => {
  if (hex.length === 8) return bytes(hex).toReversed().map((byte) => Number.parseInt(byte, 16)).join(".")
  const words = hex.match(/.{8}/g) ?? []
  const plain = words.map((word) => bytes(word).toReversed().join("")).join("").toLowerCase()
  const [, mapped] = /^0{20}ffff(.{8})$/.exec(plain) ?? []
  if (mapped !== undefined) return bytes(mapped).map((byte) => Number.parseInt(byte, 16)).join(".")
  if (/^0{31}[01]$/.test(plain)) return plain.endsWith("1") ? "[::1]" : "[::]"
  return `[${(plain.match(/.{4}/g) ?? []).join(":")}]`
}

/** Maximum number of ports of one server in an answer. */
const mostPorts = 100_000

const isPort = (port: number) => Number.isInteger(port) && port >= 1 && port <= 65535

const socketPorts = (address: string): ReadonlyArray<ServerPort> => {
  const [, hex = "", hexPort = ""] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(address) ?? []
  const port = hexPort === "" ? Number(/[.:](\d{1,5})$/.exec(address)?.[1]) : Number.parseInt(hexPort, 16)
  return isPort(port)
    ? [{ port, kind: "socket", what: hexPort === "" ? address : `${kernelAddress(hex)}:${port}` }]
    : []
}

/** Docker's format `0.0.0.0:2008->80/tcp, [::]:2010-2012->90-92/tcp`; unpublished ports have no arrow. */
function* containerPorts(what: string, published: string): Generator<ServerPort> {
  for (const [, first = "", last = first] of published.matchAll(/:(\d{1,5})(?:-(\d{1,5}))?->/g)) {
    const [from, to] = [Number(first), Number(last)]
    if (!isPort(from) || !isPort(to)) continue
    for (let port = from; port <= to; port++) yield { port, kind: "container", what }
  }
}

/** Parses the answer of `portsCommand`. A port with two listening addresses, IPv4 and IPv6, is listed twice. */
export const parsePorts = (output: string): ServerPorts => {
  const rows = output.split("\n").map((line) => line.replace(/\r$/, "").split("|"))
  const unread = rows.flatMap(([kind, what = "", ...why]) => kind === "unread" ? [`${what}: ${why.join("|")}`] : [])
  const ports: Array<ServerPort> = []
  for (const [kind, what = "", ...rest] of rows) {
    const found = kind === "socket"
      ? socketPorts(what)
      : kind === "container"
      ? containerPorts(what, rest.join("|"))
      : []
    for (const port of found) {
      // A short text can name a range of all ports, and an answer may have many of them.
      if (ports.length === mostPorts) return { ports, unread: [...unread, "it names more than 100,000 ports"] }
      ports.push(port)
    }
  }
  return { ports, unread }
}
