import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Either, Layer, Option } from "effect"
import { HostKeys } from "../../../src/services/HostKeys.ts"
import { FirstContact, FirstContactLive } from "../../../src/services/ssh/FirstContact.ts"
import { Ssh } from "../../../src/services/ssh/Ssh.ts"
import { hostKeysTest } from "../../../src/testing/SshTest.ts"
import { fakeSsh } from "../../fixtures/network/fakeSsh.ts"
import { command, eventually } from "./live.ts"

const world = (knownHosts = "") => Layer.provideMerge(FirstContactLive, hostKeysTest(knownHosts))

describe("the first contact with a server", () => {
  it.scopedLive("shows the key of a new one, and sends it no credential before that is confirmed", () =>
    Effect.gen(function*() {
      const { access, logIns, open } = yield* fakeSsh()
      const { meet } = yield* FirstContact
      const { key, session } = yield* Effect.scoped(meet(access, Option.none()))
      expect(session).toEqual(Either.left({ _tag: "Unconfirmed" }))
      const shown = Option.getOrThrow(key)
      expect(shown).toMatchObject({ type: "ecdsa-sha2-nistp256", standing: "new", remembered: Option.none() })
      expect(shown.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/)
      const other = yield* Effect.scoped(meet(access, Option.some(`SHA256:${"A".repeat(43)}`)))
      expect(other.session).toEqual(Either.left({ _tag: "Unconfirmed" }))
      expect(yield* logIns).toBe(0)

      const answer = yield* Effect.scoped(Effect.gen(function*() {
        const confirmed = yield* meet(access, Option.some(shown.fingerprint))
        expect(confirmed.key).toEqual(key)
        return yield* Context.get(Either.getOrThrow(confirmed.session), Ssh).exec(access, command("true"))
      }))
      expect(answer.code).toBe(0)
      expect(yield* logIns).toBeGreaterThan(0)
      // It is as new as before, and nothing is left open.
      expect(yield* (yield* HostKeys).knownTypes(access)).toEqual([])
      expect(yield* eventually(open, (count) => count === 0)).toBe(0)
    }).pipe(Effect.provide(world())))

  it.scopedLive("refuses one whose key has changed, whatever was confirmed", () =>
    Effect.gen(function*() {
      const { access, logIns } = yield* fakeSsh()
      const blob = Buffer.concat([Buffer.from([0, 0, 0, 19]), Buffer.from("ecdsa-sha2-nistp256")]).toString("base64")
      const known = world(`[${access.host}]:${access.port} ecdsa-sha2-nistp256 ${blob}\n`)
      yield* Effect.gen(function*() {
        const { meet } = yield* FirstContact
        const first = yield* Effect.scoped(meet(access, Option.none()))
        const shown = Option.getOrThrow(first.key)
        expect(shown).toMatchObject({
          standing: "changed",
          remembered: Option.some(expect.stringContaining("SHA256:"))
        })
        const again = yield* Effect.scoped(meet(access, Option.some(shown.fingerprint)))
        expect(Either.flip(again.session)).toMatchObject({ right: { _tag: "HostKeyChanged" } })
      }).pipe(Effect.provide(known))
      expect(yield* logIns).toBe(0)
    }))

  it.scopedLive("says why there is none", () =>
    Effect.gen(function*() {
      const { access } = yield* Effect.scoped(fakeSsh())
      const { meet } = yield* FirstContact
      const { key, session } = yield* Effect.scoped(meet(access, Option.none()))
      expect(key).toEqual(Option.none())
      expect(Either.flip(session)).toMatchObject({ right: { _tag: "ServerUnreachable", reason: "connection refused" } })
    }).pipe(Effect.provide(world())))
})
