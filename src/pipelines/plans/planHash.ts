import { digestLength } from "../../services/secrets/keyedDigest.ts"
import type { FactKinds, Facts } from "./Fact.ts"

/** Digests a text under a key; see `keyedDigest`. */
export type Digest = (text: string) => string

const namesOf = ({ labels }: FactKinds) => Object.keys(labels)
// Shows whether two hashes were made under one key, from the same kinds of facts.
const maker = (kinds: FactKinds, digest: Digest) => digest(JSON.stringify(["plan", 1, namesOf(kinds)]))

const parts = (kinds: FactKinds, facts: Facts, digest: Digest) =>
  namesOf(kinds).map((name) => digest(JSON.stringify([name, facts[name]?.value ?? null])))

/** The hash of a plan: a digest for each fact, so that a later comparison can name what moved. */
export const planHash = (kinds: FactKinds, facts: Facts, digest: Digest): string =>
  [maker(kinds, digest), ...parts(kinds, facts, digest)].join("")

/** Describes the facts that changed since a hash was made; none if it still matches. */
export const movedSince = (
  kinds: FactKinds,
  hash: string,
  facts: Facts,
  digest: Digest
): ReadonlyArray<string> => {
  if (planHash(kinds, facts, digest) === hash) return []
  const names = namesOf(kinds)
  if (!hash.startsWith(maker(kinds, digest)) || hash.length !== (names.length + 1) * digestLength) {
    return ["it was made by another Berth, by another version of it, or before platform.token was changed"]
  }
  const moved = parts(kinds, facts, digest).flatMap((part, index) => {
    const at = (index + 1) * digestLength
    return hash.slice(at, at + digestLength) === part ? [] : names[index] ?? []
  })
  return moved.filter((name) => !kinds.isImplied(name, moved)).map((name) => {
    const [label, now] = [kinds.labels[name] ?? name, facts[name]?.now]
    return now === undefined ? `${label} has changed` : `${label} is now ${now}`
  })
}
