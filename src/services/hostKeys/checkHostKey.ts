import { Either } from "effect"
import type { MachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import { computeFingerprint, type HostKey } from "./hostKey.ts"
import type { OtherKey, RouteChange } from "./KeyMismatch.ts"
import {
  addLogins,
  describeNamedRoute,
  endLine,
  findConfirmed,
  findOtherLogins,
  formatConfirmationPrefix,
  formatHostName,
  listKeys,
  listKeysElsewhere,
  removeConfirmation,
  removeKeys
} from "./knownHostsFile.ts"

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
