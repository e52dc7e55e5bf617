import { Either } from "effect"
import type { MachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import { usualSshPort } from "../../schema/servers/Server.ts"
import { computeFingerprint, type HostKey } from "./hostKey.ts"
import type { OtherKey } from "./KeyMismatch.ts"

const odd = /[^a-z0-9._:%-]/g
const escaped = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`

/**
 * Name of a server in the file: OpenSSH's `host`, or `[host]:port` for ports other than 22. The name of its jump host,
 * if any, follows after an `@`.
 */
const nameOf = ({ host, port, via }: MachineAddress): string => {
  const name = host.toLowerCase().replace(odd, escaped)
  const own = port === usualSshPort ? name : `[${name}]:${port}`
  return via === undefined ? own : `${own}@${nameOf(via)}`
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
export const rememberedKeys = (text: string, server: MachineAddress): ReadonlyArray<Omit<Line, "names">> =>
  text.split(/\r?\n/).flatMap((row) => {
    const line = lineOf(row)
    return line?.names.includes(nameOf(server)) === true ? [{ type: line.type, key: line.key }] : []
  })

/**
 * Prefix of a comment line with the fingerprint that a server must present at the first connection. OpenSSH ignores it.
 */
const confirmation = (server: MachineAddress) => `# confirmed ${nameOf(server)} `

const rowsOf = (text: string) => text.split(/(?<=\n)/)

const confirmedFor = (text: string, server: MachineAddress): string | undefined => {
  const start = confirmation(server)
  return rowsOf(text).find((row) => row.startsWith(start))?.slice(start.length).trim()
}

const withoutConfirmation = (text: string, server: MachineAddress) =>
  rowsOf(text).filter((row) => !row.startsWith(confirmation(server))).join("")

const ended = (text: string) => text === "" || text.endsWith("\n") ? text : `${text}\n`

/** Removes the keys of a server; a line that also names other servers is kept for those. */
const withoutKeys = (text: string, server: MachineAddress) =>
  rowsOf(text).flatMap((row) => {
    const line = lineOf(row)
    const others = line?.names.filter((name) => name !== nameOf(server)) ?? []
    if (line === undefined || others.length === line.names.length) return [row]
    return others.length === 0 ? [] : [row.replace(/^\s*\S+/, others.join(","))]
  }).join("")

/**
 * Confirms a fingerprint for a server in a known_hosts text. If other keys are stored, the fingerprint replaces them if
 * `replaces` is one of them; otherwise it is a mismatch.
 */
export const withConfirmed = (
  text: string,
  server: MachineAddress,
  confirmed: string,
  replaces?: string
): Either.Either<string, OtherKey> => {
  const keys = rememberedKeys(text, server).map(({ key }) => computeFingerprint(Buffer.from(key, "base64")))
  if (keys.includes(confirmed)) return Either.right(text)
  if (keys.length > 0 && !keys.some((key) => key === replaces)) {
    return Either.left({ remembered: keys.join(" or "), presented: confirmed })
  }
  const others = withoutKeys(withoutConfirmation(text, server), server)
  return Either.right(`${ended(others)}${confirmation(server)}${confirmed}\n`)
}

/**
 * Checks a server's key against a known_hosts text, and adds the key of a new server (trust on first use). Only one key
 * per server is stored and its type is negotiated first, so that the server's other keys do not look like a change.
 * A server without the stored type counts as changed: an impostor could claim the same.
 */
export const checkHostKey = (text: string, server: MachineAddress, key: HostKey) => {
  const keys = rememberedKeys(text, server)
  const shown = Buffer.from(key.blob).toString("base64")
  if (keys.some((known) => known.key === shown)) return { answer: "known" as const, text }
  if (keys.length > 0) {
    const answer: OtherKey = {
      remembered: keys.map((known) => computeFingerprint(Buffer.from(known.key, "base64"))).join(" or "),
      presented: computeFingerprint(key.blob)
    }
    return { answer, text }
  }
  const confirmed = confirmedFor(text, server)
  if (confirmed !== undefined && confirmed !== computeFingerprint(key.blob)) {
    const answer: OtherKey = { remembered: confirmed, presented: computeFingerprint(key.blob) }
    return { answer, text }
  }
  const whole = ended(withoutConfirmation(text, server))
  return { answer: "remembered" as const, text: `${whole}${nameOf(server)} ${key.type} ${shown}\n` }
}

/** Checks a key against a known_hosts text without storing it. */
export const previewHostKey = (text: string, server: MachineAddress, key: HostKey): OtherKey | "known" | "new" => {
  const { answer } = checkHostKey(text, server, key)
  if (answer !== "remembered") return answer
  return confirmedFor(text, server) === undefined ? "new" : "known"
}
