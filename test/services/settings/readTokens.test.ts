import { describe, expect, layer } from "@effect/vitest"
import { Effect, Either, Option, Redacted } from "effect"
import { it } from "vitest"
import { parseSettingsDocument } from "../../../src/services/settings/document.ts"
import { localSettings, settingsWorkshop, withEnv } from "../../fixtures/settingsIn.ts"

const problemOf = (text: string) =>
  Either.match(parseSettingsDocument("f", text), { onLeft: ({ message }) => message, onRight: () => "none" })
const entry = (more: string) => `http:\n  tokens:\n    - { name: ann, token: aaaa, role: viewer }\n    - ${more}\n`

describe("http.tokens", () => {
  it.each([
    ["{ name: bob, token: bbbb, role: operator }", "none"],
    ["{ name: ann, token: bbbb, role: operator }", "f:4: http.tokens contains two tokens with the same name"],
    ["{ name: bob, token: aaaa, role: operator }", "f:4: http.tokens contains two tokens with the same token"],
    ["{ name: bob, token: bbbb, role: admin }", "f:4: http.tokens[1].role must be viewer or operator"],
    ["{ name: token, token: bbbb, role: viewer }", /^f:4: http\.tokens\[1\]\.name must not be "token"/],
    ["{ name: \"a\\nb\", token: bbbb, role: viewer }", /^f:4: http\.tokens\[1\]\.name must be a name of up to 100/],
    ["{ name: bob, role: viewer }", "f:4: http.tokens[1].token is missing"],
    [
      "{ name: bob, token: bbbb, role: viewer, rol: a }",
      "f:4: http.tokens[1].rol is not a setting. Did you mean \"role\"? Known settings: name, token, role"
    ],
    ["bob", "f:4: http.tokens[1] must have a name, a token and a role"]
  ])("with the entry %s: %s", (more, problem) => {
    expect(problemOf(entry(more))).toEqual(typeof problem === "string" ? problem : expect.stringMatching(problem))
  })

  it("must be a list, and is named among the settings of its section", () => {
    expect(problemOf("http: { tokens: a }\n")).toBe("f:1: http.tokens must be a list of tokens")
    expect(problemOf("http: { tokns: [] }\n")).toContain(
      "Did you mean \"tokens\"? Known settings: token, hosts, origins, tokens"
    )
  })

  layer(localSettings)("in a file", (it) => {
    it.scoped("are whom the service answers, and secret", () =>
      Effect.gen(function*() {
        const tokens = entry("{ name: bob, token: \"${env:BOB}\", role: operator }")
        const { settings, write } = yield* settingsWorkshop(tokens)
        const known = Effect.map(settings.guard, ({ tokens }) =>
          tokens.map(({ name, role, token }) => `${name} ${role} ${Redacted.value(token)}`))
        const both = ["ann viewer aaaa", "bob operator secret-of-bob"]
        const asBob = withEnv({ BOB: "secret-of-bob" })
        // Until all are known, nobody is let in.
        expect((yield* settings.guard).token._tag).toBe("Some")
        expect(yield* asBob(known)).toEqual(both)
        expect((yield* asBob(settings.secrets)).map(Redacted.value)).toEqual(["aaaa", "secret-of-bob"])
        // A broken file leaves those who were known, and so do two that turn out to be the same, but for the value that
        // stands there no longer.
        yield* write("http: [\n")
        expect(yield* asBob(known)).toEqual(both)
        yield* write(tokens)
        expect(yield* asBob(known)).toEqual(both)
        expect(yield* withEnv({ BOB: "aaaa" })(known)).toEqual(["ann viewer aaaa"])
      }))

    it.scoped("that are removed let nobody in, also while another one cannot be resolved", () =>
      Effect.gen(function*() {
        const bob = "    - { name: bob, token: \"${env:BOB}\", role: operator }\n"
        const cid = "    - { name: cid, token: cccc, role: operator }\n"
        const { settings, write } = yield* settingsWorkshop(`http:\n  token: general\n  tokens:\n${bob}${cid}`)
        const known = Effect.map(settings.guard, ({ token, tokens }) => [
          ...Option.toArray(token).map(Redacted.value),
          ...tokens.map(({ name, token }) => `${name} ${Redacted.value(token)}`)
        ])
        expect(yield* withEnv({ BOB: "bbbb" })(known)).toEqual(["general", "bob bbbb", "cid cccc"])
        expect(yield* known).toEqual(["general", "bob bbbb", "cid cccc"])
        const roles = Effect.map(settings.guard, ({ tokens }) => tokens.map(({ name, role }) => `${name} ${role}`))
        yield* write(`http:\n  hosts: [a]\n  tokens:\n${bob}${cid.replace("operator", "viewer")}`)
        expect(yield* roles).toEqual(["bob operator", "cid viewer"])
        expect((yield* settings.guard).hosts).toEqual(["a"])
        yield* write(`http:\n  tokens:\n${bob}${cid}`)
        expect(yield* roles).toEqual(["bob operator", "cid viewer"])
        expect((yield* settings.guard).hosts).toEqual([])
        yield* write(`http:\n  tokens:\n${bob}    - { name: cid, token: dddd, role: operator }\n`)
        expect(yield* known).toEqual(["bob bbbb"])
        yield* write(`http:\n  tokens:\n${bob}`)
        expect(yield* known).toEqual(["bob bbbb"])
        yield* write("http:\n  token: \"${env:NONE}\"\n")
        const [closed = "", ...others] = yield* known
        expect([closed.length > 30, others]).toEqual([true, []])
      }))
  })
})
