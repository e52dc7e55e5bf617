import { Either } from "effect"
import { type MachineAddress, usualSshPort } from "../schema/servers.ts"
import { computeFingerprint, type HostKey, type OtherKey, type RouteChange } from "./HostKeys.ts"

const odd = /[^a-z0-9._:%-]/g

const escaped = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`

/** Name of a machine in the file without its route: OpenSSH's `host`, or `[host]:port` for ports other than 22. */
const formatOwnName = ({ host, port }: MachineAddress): string => {
  const name = host.toLowerCase().replace(odd, escaped)
  return port === usualSshPort ? name : `[${name}]:${port}`
}

/** Name of a server in the file. The name of its jump host, if any, follows after an `@`. */
const formatHostName = (server: MachineAddress): string =>
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
const listKeys = (text: string, server: MachineAddress): ReadonlyArray<Omit<Line, "names">> =>
  linesOf(text).flatMap(({ key, names, type }) => names.includes(formatHostName(server)) ? [{ type, key }] : [])

/**
 * Prefix of a comment line with the fingerprint that a server must present at the first connection. OpenSSH ignores it.
 */
const formatConfirmationPrefix = (server: MachineAddress): string => `# confirmed ${formatHostName(server)} `

const confirmation = /^# confirmed (\S+) (\S+)\s*$/

/** A fingerprint that is stored or confirmed for the address of a server on another route than its own. */
interface KeyElsewhere {
  /** Name in the file, with the other route. */
  readonly name: string
  readonly fingerprint: string
}

/** Keys that are stored or confirmed for the address of a server on other routes. */
const listKeysElsewhere = (text: string, server: MachineAddress): ReadonlyArray<KeyElsewhere> => {
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
const describeNamedRoute = (name: string): string => {
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
const findOtherLogins = (text: string, server: MachineAddress): RouteChange | undefined => {
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
const addLogins = (text: string, server: MachineAddress): string => {
  const logins = listLogins(server)
  return logins === undefined || listStoredLogins(text, server).some((each) => each.join() === logins.join())
    ? text
    : `${endLine(text)}${formatRoutePrefix(server)}${logins.join(",")}\n`
}

const rowsOf = (text: string) => text.split(/(?<=\n)/)

/** Fingerprint that was confirmed for a server. */
const findConfirmed = (text: string, server: MachineAddress): string | undefined => {
  const start = formatConfirmationPrefix(server)
  return rowsOf(text).find((row) => row.startsWith(start))?.slice(start.length).trim()
}

/** Removes the confirmed fingerprint of a server. */
const removeConfirmation = (text: string, server: MachineAddress): string =>
  rowsOf(text).filter((row) => !row.startsWith(formatConfirmationPrefix(server))).join("")

/** Ends the last line. */
const endLine = (text: string): string => text === "" || text.endsWith("\n") ? text : `${text}\n`

/** Removes the keys of a server; a line that also names other servers is kept for those. */
const removeKeys = (text: string, server: MachineAddress): string =>
  rowsOf(text).flatMap((row) => {
    const line = lineOf(row)
    const others = line?.names.filter((name) => name !== formatHostName(server)) ?? []
    if (line === undefined || others.length === line.names.length) return [row]
    return others.length === 0 ? [] : [row.replace(/^\s*\S+/, others.join(","))]
  }).join("")

const listFingerprints = (text: string, server: MachineAddress) =>
  listKeys(text, server).map(({ key }) => computeFingerprint(Buffer.from(key, "base64")))

/**
 * Finds the change of a server's route: keys are stored for its address on other routes alone, or for its log-in behind
 * other users of its jump hosts. `remembered` has the fingerprints of those keys.
 */
const findRouteChange = (text: string, server: MachineAddress) => {
  const keys = listFingerprints(text, server)
  const elsewhere = listKeysElsewhere(text, server)
  if (keys.length === 0 && findConfirmed(text, server) === undefined && elsewhere.length > 0) {
    const routes = new Set(elsewhere.map(({ name }) => describeNamedRoute(name)))
    return {
      remembered: [...new Set(elsewhere.map(({ fingerprint }) => fingerprint))],
      route: { remembered: [...routes].join(" or "), now: describeNamedRoute(formatHostName(server)) }
    }
  }
  const route = findOtherLogins(text, server)
  return route === undefined ? undefined : { remembered: keys, route }
}

/**
 * Confirms a fingerprint for a server in a known_hosts text. If other keys are stored, the fingerprint replaces them if
 * `replaces` is one of them; otherwise it is a mismatch. So it is for a server of which keys are stored for other routes,
 * whose keys stay.
 * @param addsRoute false refuses another route than the stored ones
 */
export const withConfirmed = (
  text: string,
  server: MachineAddress,
  confirmed: string,
  replaces?: string,
  addsRoute = true
): Either.Either<string, OtherKey> => {
  const keys = listFingerprints(text, server)
  const changed = findRouteChange(text, server)
  const known = keys.length > 0 ? keys : changed?.remembered ?? []
  const isMeant = known.length === 0 || known.includes(confirmed) || known.some((key) => key === replaces)
  if (!isMeant || (changed !== undefined && !addsRoute)) {
    const route = changed === undefined ? {} : { route: changed.route }
    return Either.left({ remembered: known.join(" or "), presented: confirmed, ...route })
  }
  const routed = changed === undefined ? text : addLogins(text, server)
  if (keys.includes(confirmed)) return Either.right(routed)
  const others = removeKeys(removeConfirmation(routed, server), server)
  return Either.right(`${endLine(others)}${formatConfirmationPrefix(server)}${confirmed}\n`)
}

/**
 * Checks a server's key against a known_hosts text, and adds the key of a new server (trust on first use). Only one key
 * per server is stored and its type is negotiated first, so that the server's other keys do not look like a change.
 * A server without the stored type counts as changed: an impostor could claim the same. Credentials belong to the route:
 * a server that is known on another one counts as changed too, whatever key it presents. A key without the users of its
 * jump hosts, as earlier versions stored it, gets them at its next use.
 */
export const checkHostKey = (text: string, server: MachineAddress, key: HostKey) => {
  const keys = listKeys(text, server)
  const shown = Buffer.from(key.blob).toString("base64")
  const presented = computeFingerprint(key.blob)
  const mismatch = (remembered: ReadonlyArray<string>, route?: RouteChange) => {
    const answer: OtherKey = {
      remembered: remembered.join(" or "),
      presented,
      ...(route === undefined ? {} : { route })
    }
    return { answer, text }
  }
  const isKnown = keys.some((known) => known.key === shown)
  if (keys.length > 0 && !isKnown) return mismatch(listFingerprints(text, server))
  const confirmed = findConfirmed(text, server)
  if (!isKnown && confirmed !== undefined && confirmed !== presented) return mismatch([confirmed])
  const changed = findRouteChange(text, server)
  if (changed !== undefined) return mismatch(changed.remembered, changed.route)
  const routed = addLogins(text, server)
  if (isKnown) return { answer: "known" as const, text: routed }
  const whole = endLine(removeConfirmation(routed, server))
  return { answer: "remembered" as const, text: `${whole}${formatHostName(server)} ${key.type} ${shown}\n` }
}

/** Types of the keys that are stored for a server. */
export const listKeyTypes = (text: string, server: MachineAddress): ReadonlyArray<string> =>
  listKeys(text, server).map(({ type }) => type)

/** Checks a key against a known_hosts text without storing it. */
export const previewHostKey = (text: string, server: MachineAddress, key: HostKey): OtherKey | "known" | "new" => {
  const { answer } = checkHostKey(text, server, key)
  if (answer !== "remembered") return answer
  return findConfirmed(text, server) === undefined ? "new" : "known"
}
