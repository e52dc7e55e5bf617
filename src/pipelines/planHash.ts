import { digestLength } from "../services/settings/Settings.ts"

/** Value that a plan depends on, as JSON, and its description; secrets have none. */
export interface Fact {
  readonly value: unknown
  readonly now?: string
}

/** Facts that were read or decided, by label. */
export type Facts = Readonly<Record<string, Fact>>

/** Labels of one kind of plan, in the order of its hash, with their descriptions. */
export interface FactKinds {
  readonly labels: Readonly<Record<string, string>>
  /** True if a change of the fact is not reported because other changed facts imply it. */
  readonly isImplied: (name: string, moved: ReadonlyArray<string>) => boolean
}

/** Digests a text under a key; see `keyedDigest`. */
export type Digest = ((text: string) => string) & { readonly isShared?: boolean }

/** Reason why a plan's hash means nothing to other processes. */
export const unsharedKey =
  "the settings have no token that a hash could be keyed with, so that each process makes hashes of " +
  "its own: set http.token to the same random text for both"

const factNames = ({ labels }: FactKinds) => Object.keys(labels)
// Identifies the key and the kinds of facts of a hash.
const makerDigest = (kinds: FactKinds, digest: Digest) => digest(JSON.stringify(["plan", 1, factNames(kinds)]))

const factDigests = (kinds: FactKinds, facts: Facts, digest: Digest) =>
  factNames(kinds).map((name) => digest(JSON.stringify([name, facts[name]?.value ?? null])))

/** Hash of a plan: one digest for each fact, so that a later comparison can name the changed ones. */
export const computePlanHash = (kinds: FactKinds, facts: Facts, digest: Digest): string =>
  [makerDigest(kinds, digest), ...factDigests(kinds, facts, digest)].join("")

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
    if (digest.isShared === false) return [unsharedKey]
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
