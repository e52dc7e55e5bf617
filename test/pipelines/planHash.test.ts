import { describe, expect, it } from "vitest"
import { changedFacts, computePlanHash, type Digest, type FactKinds } from "../../src/pipelines/planHash.ts"
import { digestLength } from "../../src/services/settings/Settings.ts"
import { sha256 } from "../fixtures/docker/tar.ts"

const digest = (text: string) => sha256(text).slice(0, digestLength)
const kinds: FactKinds = {
  labels: { port: "the port", secret: "the secret", steps: "what would be done" },
  isImplied: (name, moved) => name === "steps" && moved.length > 1
}
const facts = (port: number, secret: string, steps: string) => ({
  port: { value: port, now: String(port) },
  secret: { value: secret },
  steps: { value: steps }
})
const hash = computePlanHash(kinds, facts(1, "a", "x"), digest)
const moved = (now: ReturnType<typeof facts>, under: Digest = digest) => changedFacts(kinds, hash, now, under)

describe("changedFacts", () => {
  it("names what moved, how it is now where that is not secret, and nothing that follows from the rest", () => {
    expect(moved(facts(1, "a", "x"))).toEqual([])
    expect(moved(facts(2, "b", "y"))).toEqual(["the port is now 2", "the secret has changed"])
    expect(moved(facts(1, "a", "y"))).toEqual(["what would be done has changed"])
  })

  it("says where hashes have no key that two processes share", () => {
    const own = Object.assign((text: string) => digest(`own ${text}`), { isShared: false })
    expect(moved(facts(1, "a", "x"), own)).toEqual([expect.stringContaining("set http.token to the same random text")])
  })

  it("does not compare what was made under another key, or from other facts", () => {
    const words = [expect.stringMatching(/^it was made by another Berth/)]
    expect(moved(facts(1, "a", "x"), (text) => digest(`other ${text}`))).toEqual(words)
    expect(changedFacts({ ...kinds, labels: { port: "" } }, hash, facts(1, "a", "x"), digest)).toEqual(words)
    expect(changedFacts(kinds, hash.slice(1), facts(1, "a", "x"), digest)).toEqual(words)
  })
})
