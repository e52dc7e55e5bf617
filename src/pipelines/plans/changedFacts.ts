import { digestLength } from "../../services/secrets/planHashDigest.ts"
import type { FactKinds, Facts } from "./Fact.ts"
import { computePlanHash, type Digest, factDigests, factNames, makerDigest } from "./planHash.ts"

/** Describes the facts that changed since a hash was made; none if it still matches. */
export const changedFacts = (
  kinds: FactKinds,
  hash: string,
  facts: Facts,
  digest: Digest
): ReadonlyArray<string> => {
  if (computePlanHash(kinds, facts, digest) === hash) return []
  const names = factNames(kinds)
  if (!hash.startsWith(makerDigest(kinds, digest)) || hash.length !== (names.length + 1) * digestLength) {
    return ["it was made by another Berth, by another version of it, or before platform.token was changed"]
  }
  const moved = factDigests(kinds, facts, digest).flatMap((part, index) => {
    const at = (index + 1) * digestLength
    return hash.slice(at, at + digestLength) === part ? [] : names[index] ?? []
  })
  return moved.filter((name) => !kinds.isImplied(name, moved)).map((name) => {
    const [label, now] = [kinds.labels[name] ?? name, facts[name]?.now]
    return now === undefined ? `${label} has changed` : `${label} is now ${now}`
  })
}
