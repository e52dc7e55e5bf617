import type { MachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import { usualSshPort } from "../../schema/servers/Server.ts"
import { computeFingerprint } from "./hostKey.ts"
import type { RouteChange } from "./KeyMismatch.ts"

const odd = /[^a-z0-9._:%-]/g
const escaped = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`

/** Name of a machine in the file without its route: OpenSSH's `host`, or `[host]:port` for ports other than 22. */
const formatOwnName = ({ host, port }: MachineAddress): string => {
  const name = host.toLowerCase().replace(odd, escaped)
  return port === usualSshPort ? name : `[${name}]:${port}`
}

/** Name of a server in the file. The name of its jump host, if any, follows after an `@`. */
export const formatHostName = (server: MachineAddress): string =>
  server.via === undefined ? formatOwnName(server) : `${formatOwnName(server)}@${formatHostName(server.via)}`

interface Line {
  readonly names: ReadonlyArray<string>
  readonly type: string
  readonly key: string
}

const lineOf = (text: string): Line | undefined => {
  const [names, type, key] = text.trim().split(/\s+/)
  return names === undefined || type === undefined || key === undefined || /^[#@|]/.test(names)
    ? undefined
    : { names: names.split(","), type, key }
}

const linesOf = (text: string) => text.split(/\r?\n/).flatMap((row) => lineOf(row) ?? [])

/** Keys of a server in a known_hosts text. Ignores hashed names, markers and comments. */
export const listKeys = (text: string, server: MachineAddress): ReadonlyArray<Omit<Line, "names">> =>
  linesOf(text).flatMap(({ key, names, type }) => names.includes(formatHostName(server)) ? [{ type, key }] : [])

/**
 * Prefix of a comment line with the fingerprint that a server must present at the first connection. OpenSSH ignores it.
 */
export const formatConfirmationPrefix = (server: MachineAddress): string => `# confirmed ${formatHostName(server)} `

const confirmation = /^# confirmed (\S+) (\S+)\s*$/

/** A fingerprint that is stored or confirmed for the address of a server on another route than its own. */
export interface KeyElsewhere {
  /** Name in the file, with the other route. */
  readonly name: string
  readonly fingerprint: string
}

/** Keys that are stored or confirmed for the address of a server on other routes. */
export const listKeysElsewhere = (text: string, server: MachineAddress): ReadonlyArray<KeyElsewhere> => {
  const [own, whole] = [formatOwnName(server), formatHostName(server)]
  const isElsewhere = (name: string) => name !== whole && (name === own || name.startsWith(`${own}@`))
  return [
    ...linesOf(text).flatMap(({ key, names }) =>
      names.filter(isElsewhere).map((name) => ({ name, fingerprint: computeFingerprint(Buffer.from(key, "base64")) }))
    ),
    ...text.split(/\r?\n/).flatMap((row) => {
      const [, name = "", fingerprint = ""] = confirmation.exec(row) ?? []
      return isElsewhere(name) ? [{ name, fingerprint }] : []
    })
  ]
}

/** Describes the route in a name of the file. */
export const describeNamedRoute = (name: string): string => {
  const hops = name.split("@").slice(1).toReversed()
  return hops.length === 0 ? "directly" : `through ${hops.join(", ")}`
}

const formatLogin = (server: MachineAddress): string | undefined =>
  server.username === undefined
    ? undefined
    : `${server.username.replace(/[^A-Za-z0-9._-]/g, escaped)}@${formatOwnName(server)}`

/** Log-ins of a route in their order, the server's own last; undefined without jump hosts, or if a user is unknown. */
const listLogins = (server: MachineAddress): ReadonlyArray<string> | undefined => {
  const own = formatLogin(server)
  if (server.via === undefined || own === undefined) return undefined
  const before = server.via.via === undefined ? formatLogin(server.via) : listLogins(server.via)
  return before === undefined ? undefined : [...[before].flat(), own]
}

const formatRoutePrefix = (server: MachineAddress): string => `# route ${formatHostName(server)} `

/**
 * Finds the stored routes of a server's log-in if its own is none of them. A comment line for each has the users of the
 * jump hosts, which the name of a key does not have; OpenSSH ignores it. Without a line every user is accepted.
 */
export const findOtherLogins = (text: string, server: MachineAddress): RouteChange | undefined => {
  const logins = listLogins(server)
  if (logins === undefined) return undefined
  const stored = listStoredLogins(text, server).filter((each) => each.at(-1) === logins.at(-1))
  if (stored.length === 0 || stored.some((each) => each.join() === logins.join())) return undefined
  const describe = (each: ReadonlyArray<string>) => `through ${each.slice(0, -1).join(", ")}`
  return { remembered: stored.map(describe).join(" or "), now: describe(logins) }
}

const listStoredLogins = (text: string, server: MachineAddress) => {
  const start = formatRoutePrefix(server)
  return rowsOf(text).flatMap((row) => row.startsWith(start) ? [row.slice(start.length).trim().split(",")] : [])
}

/** Adds the route of a server with the users of its jump hosts. */
export const addLogins = (text: string, server: MachineAddress): string => {
  const logins = listLogins(server)
  return logins === undefined || listStoredLogins(text, server).some((each) => each.join() === logins.join())
    ? text
    : `${endLine(text)}${formatRoutePrefix(server)}${logins.join(",")}\n`
}

const rowsOf = (text: string) => text.split(/(?<=\n)/)

/** Fingerprint that was confirmed for a server. */
export const findConfirmed = (text: string, server: MachineAddress): string | undefined => {
  const start = formatConfirmationPrefix(server)
  return rowsOf(text).find((row) => row.startsWith(start))?.slice(start.length).trim()
}

/** Removes the confirmed fingerprint of a server. */
export const removeConfirmation = (text: string, server: MachineAddress): string =>
  rowsOf(text).filter((row) => !row.startsWith(formatConfirmationPrefix(server))).join("")

/** Ends the last line. */
export const endLine = (text: string): string => text === "" || text.endsWith("\n") ? text : `${text}\n`

/** Removes the keys of a server; a line that also names other servers is kept for those. */
export const removeKeys = (text: string, server: MachineAddress): string =>
  rowsOf(text).flatMap((row) => {
    const line = lineOf(row)
    const others = line?.names.filter((name) => name !== formatHostName(server)) ?? []
    if (line === undefined || others.length === line.names.length) return [row]
    return others.length === 0 ? [] : [row.replace(/^\s*\S+/, others.join(","))]
  }).join("")
