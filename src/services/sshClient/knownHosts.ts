import { Array, type Context, Effect } from "effect"
import { createHmac } from "node:crypto"
import { join } from "node:path"
import { type MachineAddress, usualSshPort } from "../../schema/servers.ts"
import {
  computeFingerprint,
  type HostKey,
  HostKeys,
  HostKeysUnavailable,
  type KeyMismatch,
  withRequiredKeys
} from "../HostKeys.ts"
import { readRegular } from "../local/LocalFiles.ts"
import { knownHostsVariable, matchesPatterns, SshClient } from "./clientConfig.ts"

/** A key that `known_hosts` has for a host. */
interface KnownHostKey {
  readonly type: string
  readonly fingerprint: string
  /** True for a key that the file marks with `@revoked`. */
  readonly isRevoked: boolean
}

const isHashOf = (hashed: string, name: string): boolean => {
  const [, salt = "", hash = ""] = /^\|1\|([A-Za-z0-9+/=]{1,100})\|([A-Za-z0-9+/=]{1,100})$/.exec(hashed) ?? []
  return salt !== "" && createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest("base64") === hash
}

/**
 * Finds the keys of a host in a `known_hosts` text: plain and hashed names, patterns, `[host]:port` and `@revoked`.
 * Ignores keys of certificate authorities, since Berth does not verify certificates.
 */
export const findKnownHost = (text: string, host: string, port: number): ReadonlyArray<KnownHostKey> => {
  const name = port === usualSshPort ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`
  return text.split("\n").flatMap((row) => {
    const words = row.trim().slice(0, 32_768).split(/\s+/)
    const marker = words[0]?.startsWith("@") === true ? words[0] : ""
    const [names = "", type = "", key = ""] = marker === "" ? words : words.slice(1)
    if (names === "" || names.startsWith("#") || key === "" || !/^(@revoked)?$/.test(marker)) return []
    const isMeant = names.startsWith("|")
      ? isHashOf(names, name)
      : matchesPatterns(name, names.toLowerCase().split(","))
    return isMeant
      ? [{ type, fingerprint: computeFingerprint(Buffer.from(key, "base64")), isRevoked: marker !== "" }]
      : []
  })
}

// Far more than anybody has; a hashed name costs some microseconds a line.
const mostBytes = 8 * 1024 * 1024

/** Reads a `known_hosts` as `ssh` does, whoever may write to it; empty if there is none. */
const readKnownHosts = (file: string): Effect.Effect<string, HostKeysUnavailable> =>
  readRegular(file, mostBytes).pipe(
    Effect.map((bytes) => new TextDecoder().decode(bytes)),
    Effect.catchIf(({ code }) => code === "ENOENT" || code === "ENOTDIR", () => Effect.succeed("")),
    Effect.mapError(({ message }) => new HostKeysUnavailable({ file, reason: message }))
  )

/** A key of the user's, and the file or the variable that has it. */
interface UsersKey extends KnownHostKey {
  readonly file: string
}

/**
 * Keys that the user's `known_hosts` and the variable have for a host. Fails for a file that is there and cannot be read:
 * it may contradict the key of the server, or revoke it.
 */
export const readUsersKeys = (
  { host, port }: { readonly host: string; readonly port: number }
): Effect.Effect<ReadonlyArray<UsersKey>, HostKeysUnavailable> =>
  Effect.gen(function*() {
    const { directory, knownHosts = "" } = yield* SshClient
    const file = join(directory, "known_hosts")
    const inFile = (text: string, file: string) => findKnownHost(text, host, port).map((key) => ({ ...key, file }))
    return [...inFile(knownHosts, knownHostsVariable), ...inFile(yield* readKnownHosts(file), file)]
  })

type Service = Context.Tag.Service<HostKeys>

/**
 * Keys of another type contradict no key that is known already: an older file may have one that the server still has, and
 * Berth another. Where no key is known, the types of the file are negotiated first, so that another one is a change.
 */
const judgeByUser = (
  standing: KeyMismatch | "known" | "new",
  known: ReadonlyArray<UsersKey>,
  { isRequired, key }: { readonly isRequired: boolean; readonly key: HostKey }
): KeyMismatch | "known" | "new" => {
  const presented = computeFingerprint(key.blob)
  const keys = known.filter(({ isRevoked }) => !isRevoked)
  const refuse = (file: string, others: ReadonlyArray<UsersKey>): KeyMismatch => ({
    remembered: others.map(({ fingerprint }) => fingerprint).join(" or "),
    presented,
    file,
    isUsers: true
  })
  const isThis = ({ fingerprint }: UsersKey) => fingerprint === presented
  const revoked = known.find((each) => each.isRevoked && isThis(each))
  if (revoked !== undefined) return { ...refuse(revoked.file, keys), isRevoked: true }
  if (typeof standing === "object" || isRequired) return standing
  if (keys.some(isThis)) return "known"
  const others = standing === "new" ? keys : keys.filter(({ type }) => type === key.type)
  return Array.isNonEmptyReadonlyArray(others) ? refuse(others[0].file, others) : standing
}

/** Called with the key of a server that neither Berth, nor the user's known_hosts, nor the settings had. */
export type TellFirstContact = (server: MachineAddress, key: HostKey) => Effect.Effect<void>

/**
 * Adds the user's known_hosts to Berth's own keys, for every connection: a key that is new to Berth is known if the file
 * contains it, and a mismatch if the file contains only others; a key that Berth remembers is a mismatch if the file has
 * another one of its type. The types of known keys are negotiated first, as in OpenSSH. A key that the settings require is
 * the only one accepted, unless the file marks it as revoked.
 */
export const withUserKnownHosts = (stored: Service, tellFirst: TellFirstContact = () => Effect.void): Service => {
  const keys = withRequiredKeys(stored)
  const standing: Service["standing"] = (server, key) =>
    Effect.zipWith(
      keys.standing(server, key),
      readUsersKeys(server),
      (own, known) => judgeByUser(own, known, { isRequired: server.hostKey !== undefined, key })
    )
  return HostKeys.of({
    ...keys,
    standing,
    knownTypes: (server) =>
      Effect.flatMap(keys.knownTypes(server), (own) =>
        own.length > 0
          ? Effect.succeed(own)
          : Effect.map(
            readUsersKeys(server),
            (known) => known.flatMap(({ isRevoked, type }) => isRevoked ? [] : [type])
          )),
    check: (server, key) =>
      Effect.gen(function*() {
        const judged = yield* standing(server, key)
        if (typeof judged === "object") return judged
        const checked = yield* keys.check(server, key)
        if (judged === "new" && checked === "remembered") yield* tellFirst(server, key)
        return checked
      })
  })
}

/** Refuses new keys and stores none; for the jump hosts of a server that is not stored yet. */
export const refuseNewKeys = (keys: Service): Service => {
  const known = withUserKnownHosts(keys)
  return HostKeys.of({
    ...known,
    check: (server, key) =>
      Effect.map(
        known.standing(server, key),
        (standing) =>
          standing === "new" ? { remembered: "", presented: computeFingerprint(key.blob), file: keys.file } : standing
      )
  })
}
