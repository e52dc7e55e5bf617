import { digestLength } from "../../../services/secrets/keyedDigest.ts"
import { factLabels, type Facts, factsOfApplication } from "./facts.ts"

/** Digests a text under a key; see `keyedDigest`. */
export type Digest = (text: string) => string

const names = Object.keys(factLabels)
const label = (name: string) => Object.entries(factLabels).find(([each]) => each === name)?.[1] ?? name
// Shows whether two hashes were made under one key, from the same kinds of facts.
const maker = (digest: Digest) => digest(JSON.stringify(["plan", 1, names]))

const parts = (facts: Facts, digest: Digest) =>
  names.map((name) => digest(JSON.stringify([name, facts[name]?.value ?? null])))

/** The hash of a plan: a digest for each fact, so that a later comparison can name what moved. */
export const planHash = (facts: Facts, digest: Digest): string => [maker(digest), ...parts(facts, digest)].join("")

/** What is not as it was when a hash was made, in words; nothing when all of it is. */
export const movedSince = (hash: string, facts: Facts, digest: Digest): ReadonlyArray<string> => {
  if (planHash(facts, digest) === hash) return []
  if (!hash.startsWith(maker(digest)) || hash.length !== (names.length + 1) * digestLength) {
    return ["it was made by another Berth, by another version of it, or before platform.token was changed"]
  }
  const moved = parts(facts, digest).flatMap((part, index) => {
    const at = (index + 1) * digestLength
    return hash.slice(at, at + digestLength) === part ? [] : names[index] ?? []
  })
  const isOther = moved.includes("application")
  // What the steps would do follows from the rest, and is told only where nothing else is.
  const told = moved.filter((name) =>
    !(isOther && factsOfApplication.includes(name)) && (name !== "decided" || moved.length === 1)
  )
  return told.map((name) => {
    const now = facts[name]?.now
    return now === undefined ? `${label(name)} has changed` : `${label(name)} is now ${now}`
  })
}
