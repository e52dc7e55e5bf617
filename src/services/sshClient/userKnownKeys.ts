import { type Context, Effect } from "effect"
import { computeFingerprint } from "../hostKeys/hostKey.ts"
import { HostKeys } from "../hostKeys/HostKeys.ts"
import { type KeyMismatch } from "../hostKeys/KeyMismatch.ts"
import type { KnownHost } from "./knownHosts.ts"
import { readUserKnownHost } from "./SshClient.ts"

type Service = Context.Tag.Service<HostKeys>

const judgeByUser = (
  standing: KeyMismatch | "known" | "new",
  { file, keys, revoked }: KnownHost & { readonly file: string },
  presented: string
): KeyMismatch | "known" | "new" => {
  const others = keys.map((key) => key.fingerprint)
  if (revoked.includes(presented)) return { remembered: others.join(" or "), presented, file, isRevoked: true }
  if (standing !== "new" || others.length === 0) return standing
  return others.includes(presented) ? "known" : { remembered: others.join(" or "), presented, file }
}

/**
 * Adds the user's known_hosts to Berth's own keys: a key that is new to Berth is known if the file contains it, and a
 * mismatch if the file contains only others. The types of its keys are negotiated first, as in OpenSSH.
 */
export const withUserKnownHosts = (keys: Service): Service => {
  const standing: Service["standing"] = (server, key) =>
    Effect.zipWith(
      keys.standing(server, key),
      readUserKnownHost(server),
      (own, known) => judgeByUser(own, known, computeFingerprint(key.blob))
    )
  return HostKeys.of({
    ...keys,
    standing,
    knownTypes: (server) =>
      Effect.flatMap(keys.knownTypes(server), (own) =>
        own.length > 0
          ? Effect.succeed(own)
          : Effect.map(readUserKnownHost(server), (known) => known.keys.map(({ type }) => type))),
    check: (server, key) =>
      Effect.flatMap(
        standing(server, key),
        (judged) => typeof judged === "object" ? Effect.succeed(judged) : keys.check(server, key)
      )
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
