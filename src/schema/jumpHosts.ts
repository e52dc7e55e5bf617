import { Schema } from "effect"
import { ShortText } from "./validation.ts"

/** Jump host, as in OpenSSH's `-J`. */
export interface JumpHost {
  /** A host name, an IP address or an alias of `~/.ssh/config`. */
  readonly host: string
  readonly port?: number
  readonly username?: string
}

/** Maximum number of jump hosts of a connection. */
export const mostJumps = 8

const hop = /^(?:([^@\s,/:]+)@)?(?:\[([0-9A-Fa-f:.%]+)\]|([A-Za-z0-9_][A-Za-z0-9_.-]{0,252}))(?::(\d{1,5}))?$/

/**
 * Parses jump hosts, nearest first: `[user@]host[:port]`, separated by commas. Undefined if one is invalid or there are
 * too many.
 */
export const parseJumpHosts = (text: string): ReadonlyArray<JumpHost> | undefined => {
  const hops = text.split(",").map((part): JumpHost | undefined => {
    const [, username, address, name, written] = hop.exec(part.trim()) ?? []
    const host = address ?? name
    const port = written === undefined ? undefined : Number(written)
    if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) return undefined
    return { host, ...(port === undefined ? {} : { port }), ...(username === undefined ? {} : { username }) }
  })
  const known = hops.filter((each) => each !== undefined)
  return known.length === hops.length && hops.length <= mostJumps ? known : undefined
}

/** Trims a list of jump hosts; null for a blank string. */
export const normalizeJumpList = (text: string): string | null => text.trim() || null

/** Error message for invalid jump hosts. */
export const jumpShape =
  `must be [user@]host[:port], or up to ${mostJumps} of these separated by commas; a ProxyCommand cannot be used`

/** Jump hosts as in OpenSSH's `-J`; null for a blank string. */
export const JumpList = Schema.transform(
  ShortText.pipe(
    Schema.filter((text) => normalizeJumpList(text) === null || parseJumpHosts(text) !== undefined || jumpShape)
  ),
  Schema.NullOr(Schema.String),
  { strict: true, decode: normalizeJumpList, encode: (jump) => jump ?? "" }
)
