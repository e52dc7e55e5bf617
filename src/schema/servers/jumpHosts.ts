/** A host that a connection goes through, as OpenSSH's `-J` names it. */
export interface JumpHost {
  /** A host name, an IP address or an alias of `~/.ssh/config`. */
  readonly host: string
  readonly port?: number
  readonly username?: string
}

/** The most jump hosts between this machine and a server. */
export const mostJumps = 8

const hop = /^(?:([^@\s,/:]+)@)?(?:\[([0-9A-Fa-f:.%]+)\]|([A-Za-z0-9_][A-Za-z0-9_.-]{0,252}))(?::(\d{1,5}))?$/

/** Reads jump hosts, the nearest first: `[user@]host[:port]`, separated by commas; nothing where one is not like that. */
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

/** Jump hosts as they are written, without blanks around them; null for a blank text, which names none. */
export const normalizeJumpList = (text: string): string | null => text.trim() || null

/** Error text of a value that does not name jump hosts. */
export const jumpShape =
  `must be [user@]host[:port], or up to ${mostJumps} of these separated by commas; a ProxyCommand cannot be used`
