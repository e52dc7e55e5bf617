import { Either } from "effect"
import type { MachineAddress } from "../../schema/servers/formatMachineAddress.ts"
import { computeFingerprint, type HostKey } from "./hostKey.ts"
import type { OtherKey } from "./KeyMismatch.ts"
import {
  endLine,
  findConfirmed,
  formatConfirmationPrefix,
  formatHostName,
  listKeys,
  removeConfirmation,
  removeKeys
} from "./knownHostsFile.ts"

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
  const keys = listKeys(text, server).map(({ key }) => computeFingerprint(Buffer.from(key, "base64")))
  if (keys.includes(confirmed)) return Either.right(text)
  if (keys.length > 0 && !keys.some((key) => key === replaces)) {
    return Either.left({ remembered: keys.join(" or "), presented: confirmed })
  }
  const others = removeKeys(removeConfirmation(text, server), server)
  return Either.right(`${endLine(others)}${formatConfirmationPrefix(server)}${confirmed}\n`)
}

/**
 * Checks a server's key against a known_hosts text, and adds the key of a new server (trust on first use). Only one key
 * per server is stored and its type is negotiated first, so that the server's other keys do not look like a change.
 * A server without the stored type counts as changed: an impostor could claim the same.
 */
export const checkHostKey = (text: string, server: MachineAddress, key: HostKey) => {
  const keys = listKeys(text, server)
  const shown = Buffer.from(key.blob).toString("base64")
  if (keys.some((known) => known.key === shown)) return { answer: "known" as const, text }
  if (keys.length > 0) {
    const answer: OtherKey = {
      remembered: keys.map((known) => computeFingerprint(Buffer.from(known.key, "base64"))).join(" or "),
      presented: computeFingerprint(key.blob)
    }
    return { answer, text }
  }
  const confirmed = findConfirmed(text, server)
  if (confirmed !== undefined && confirmed !== computeFingerprint(key.blob)) {
    const answer: OtherKey = { remembered: confirmed, presented: computeFingerprint(key.blob) }
    return { answer, text }
  }
  const whole = endLine(removeConfirmation(text, server))
  return { answer: "remembered" as const, text: `${whole}${formatHostName(server)} ${key.type} ${shown}\n` }
}

/** Checks a key against a known_hosts text without storing it. */
export const previewHostKey = (text: string, server: MachineAddress, key: HostKey): OtherKey | "known" | "new" => {
  const { answer } = checkHostKey(text, server, key)
  if (answer !== "remembered") return answer
  return findConfirmed(text, server) === undefined ? "new" : "known"
}
