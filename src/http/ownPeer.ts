import { Array, Effect, Option } from "effect"
import { readFile } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { isIP } from "node:net"
import { endianness } from "node:os"
import { isLoopback } from "./listen.ts"

/** Groups of an IPv6 address, eight numbers of 16 bits. */
const groupsOf = (address: string): ReadonlyArray<number> => {
  const [before = "", after] = address.split("::")
  const read = (text: string) => text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16))
  const [first, last] = [read(before), read(after ?? "")]
  return [...first, ...Array.replicate(0, Math.max(0, 8 - first.length - last.length)), ...last].slice(0, 8)
}

const bytesOf = (address: string): ReadonlyArray<number> =>
  isIP(address) === 4
    ? address.split(".").map(Number)
    : groupsOf(address).flatMap((group) => [group >> 8, group & 255])

const toHex = (numbers: ReadonlyArray<number>) =>
  numbers.map((number) => number.toString(16).padStart(2, "0")).join("").toUpperCase()

/** End of a connection as the kernel's table writes it: words of four bytes in the machine's order, then the port. */
export const formatTableEnd = (address: string, port: number, order: "BE" | "LE" = endianness()): string => {
  const words = Array.chunksOf(bytesOf(address), 4)
  const hex = words.map((word) => toHex(order === "LE" ? word.toReversed() : word)).join("")
  return `${hex}:${toHex([port >> 8, port & 255])}`
}

/** User who owns the socket of a connection with these ends in a table of the kernel; none without such a row. */
export const findOwner = (table: string, own: string, other: string): Option.Option<number> => {
  const row = table.split("\n").map((line) => line.trim().split(/\s+/)).find(([, from, to]) =>
    from === own && to === other
  )
  const uid = Number(row?.[7])
  return row !== undefined && /^\d+$/.test(row[7] ?? "") ? Option.some(uid) : Option.none()
}

/** An IPv4 address that is mapped into IPv6, as itself. */
const unmap = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, "")

const forwardingHeaders = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]

type Ends = Pick<IncomingMessage["socket"], "localAddress" | "localPort" | "remoteAddress" | "remotePort">
type Source = Pick<IncomingMessage, "headers"> & {
  /** Absent for a request within this process. */
  readonly socket?: { readonly [End in keyof Ends]: Ends[End] | undefined }
}

/** True where a table of the kernel tells whose a connection is. */
export const canTellPeers = process.platform === "linux"

/** Connections that were found to be of this process's user; they stay so. */
const own = new WeakSet<object>()

/**
 * True if a request was sent by a program of this process's user on this machine, and not through a proxy. Elsewhere
 * than on Linux no table says whose a connection is: any program on this machine counts there.
 */
export const isOwnPeer = ({ headers, socket }: Source): Effect.Effect<boolean> => {
  if (socket === undefined) return Effect.succeed(false)
  const { localAddress, localPort, remoteAddress, remotePort } = socket
  if (
    localAddress === undefined || localPort === undefined || remoteAddress === undefined ||
    remotePort === undefined || !isLoopback(localAddress) || !isLoopback(remoteAddress) ||
    forwardingHeaders.some((name) => headers[name] !== undefined)
  ) return Effect.succeed(false)
  const uid = process.getuid?.()
  if (!canTellPeers || uid === undefined) return Effect.succeed(true)
  if (own.has(socket)) return Effect.succeed(true)
  const [here, there] = [unmap(localAddress), unmap(remoteAddress)]
  const file = isIP(there) === 4 ? "/proc/net/tcp" : "/proc/net/tcp6"
  return Effect.tryPromise(() => readFile(file, "utf8")).pipe(
    Effect.map((table) =>
      Option.contains(findOwner(table, formatTableEnd(there, remotePort), formatTableEnd(here, localPort)), uid)
    ),
    Effect.tap((isOwn) => isOwn ? Effect.sync(() => own.add(socket)) : Effect.void),
    Effect.orElseSucceed(() => false)
  )
}
