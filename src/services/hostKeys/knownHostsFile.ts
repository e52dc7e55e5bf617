import type { MachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import { usualSshPort } from "../../schema/servers/Server.ts"

const odd = /[^a-z0-9._:%-]/g
const escaped = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`

/**
 * Name of a server in the file: OpenSSH's `host`, or `[host]:port` for ports other than 22. The name of its jump host,
 * if any, follows after an `@`.
 */
export const formatHostName = ({ host, port, via }: MachineAddress): string => {
  const name = host.toLowerCase().replace(odd, escaped)
  const own = port === usualSshPort ? name : `[${name}]:${port}`
  return via === undefined ? own : `${own}@${formatHostName(via)}`
}

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

/** Keys of a server in a known_hosts text. Ignores hashed names, markers and comments. */
export const listKeys = (text: string, server: MachineAddress): ReadonlyArray<Omit<Line, "names">> =>
  text.split(/\r?\n/).flatMap((row) => {
    const line = lineOf(row)
    return line?.names.includes(formatHostName(server)) === true ? [{ type: line.type, key: line.key }] : []
  })

/**
 * Prefix of a comment line with the fingerprint that a server must present at the first connection. OpenSSH ignores it.
 */
export const formatConfirmationPrefix = (server: MachineAddress): string => `# confirmed ${formatHostName(server)} `

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
