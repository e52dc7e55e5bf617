import type { FactKinds, Facts } from "./Fact.ts"

/** Digests a text under a key; see `planHashDigest`. */
export type Digest = (text: string) => string

export const factNames = ({ labels }: FactKinds) => Object.keys(labels)
// Identifies the key and the kinds of facts of a hash.
export const makerDigest = (kinds: FactKinds, digest: Digest) => digest(JSON.stringify(["plan", 1, factNames(kinds)]))

export const factDigests = (kinds: FactKinds, facts: Facts, digest: Digest) =>
  factNames(kinds).map((name) => digest(JSON.stringify([name, facts[name]?.value ?? null])))

/** Hash of a plan: one digest for each fact, so that a later comparison can name the changed ones. */
export const computePlanHash = (kinds: FactKinds, facts: Facts, digest: Digest): string =>
  [makerDigest(kinds, digest), ...factDigests(kinds, facts, digest)].join("")
