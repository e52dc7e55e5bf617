import { createHmac } from "node:crypto"
import { usualSshPort } from "../../schema/servers/Server.ts"
import { computeFingerprint } from "../hostKeys/hostKey.ts"
import { matchesPatterns } from "./matchesPatterns.ts"

/** The keys that a `known_hosts` file has for a host, as fingerprints. */
export interface KnownHost {
  readonly keys: ReadonlyArray<{ readonly type: string; readonly fingerprint: string }>
  readonly revoked: ReadonlyArray<string>
}

const mostLines = 20_000

const isHashOf = (hashed: string, name: string): boolean => {
  const [, salt = "", hash = ""] = /^\|1\|([A-Za-z0-9+/=]{1,100})\|([A-Za-z0-9+/=]{1,100})$/.exec(hashed) ?? []
  return salt !== "" && createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest("base64") === hash
}

/**
 * Finds the keys of a host in a `known_hosts` text: plain and hashed names, patterns, `[host]:port` and `@revoked`.
 * Ignores keys of certificate authorities, since Berth does not verify certificates.
 */
export const findKnownHost = (text: string, host: string, port: number): KnownHost => {
  const name = port === usualSshPort ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`
  const found = text.split("\n", mostLines).flatMap((row) => {
    const words = row.trim().slice(0, 32_768).split(/\s+/)
    const marker = words[0]?.startsWith("@") === true ? words[0] : ""
    const [names = "", type = "", key = ""] = marker === "" ? words : words.slice(1)
    if (names === "" || names.startsWith("#") || key === "" || !/^(@revoked)?$/.test(marker)) return []
    const isMeant = names.startsWith("|")
      ? isHashOf(names, name)
      : matchesPatterns(name, names.toLowerCase().split(","))
    return isMeant ? [{ marker, type, fingerprint: computeFingerprint(Buffer.from(key, "base64")) }] : []
  })
  return {
    keys: found.filter(({ marker }) => marker === "").map(({ fingerprint, type }) => ({ type, fingerprint })),
    revoked: found.filter(({ marker }) => marker !== "").map(({ fingerprint }) => fingerprint)
  }
}
