import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { testServer } from "../../../src/pipelines/health/testServer.ts"
import { computeFingerprint, HostKeys } from "../../../src/services/HostKeys.ts"
import { FirstContactLive } from "../../../src/services/ssh/FirstContact.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { hostKeysTest } from "../../../src/testing/SshTest.ts"
import { leftovers, realSsh, RealSshd, type SshUser } from "../../fixtures/network/openssh.ts"

const world = Layer.mergeAll(
  RealSshd.layer(),
  Layer.provideMerge(FirstContactLive, hostKeysTest()),
  settingsTest({})
)

const inputOf = (user: SshUser) => {
  const { host, name, port, username } = user.access()
  return { name, host, port, username, password: Redacted.make(user.password) }
}

describe.skipIf(!realSsh.available)(realSsh.title("the connection test of a real server"), () => {
  layer(world, { excludeTestServices: true })((it) => {
    it.scoped("shows the key that the server has, sends nothing before it is confirmed, and remembers nothing", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const user = yield* sshd.makeUser({})
        const input = inputOf(user)
        const first = yield* testServer(input)
        expect(first).toMatchObject({ ready: false, hostKey: { standing: "new" }, logIn: { ok: null } })
        const hostKey = first.hostKey?.fingerprint ?? ""
        const [, key = ""] = (yield* sshd.hostKey()).split(" ")
        expect(hostKey).toBe(computeFingerprint(Buffer.from(key, "base64")))
        const second = yield* testServer({ ...input, hostKey })
        expect(second).toMatchObject({ hostKey: { fingerprint: hostKey, standing: "new" }, logIn: { ok: true } })
        const wrong = yield* testServer({ ...input, hostKey, password: Redacted.make("wrong") })
        expect(wrong).toMatchObject({ ready: false, logIn: { ok: false }, docker: { ok: null } })
        expect(yield* (yield* HostKeys).knownTypes(input)).toEqual([])
        expect(yield* leftovers(user)).toEqual([])
      }))

    it.scoped("tells a sudo that refuses from one that works", () =>
      Effect.gen(function*() {
        const sshd = yield* RealSshd
        const [allowed, denied] = yield* Effect.all([
          sshd.makeUser({ sudo: "password" }),
          sshd.makeUser({ sudo: "none" })
        ])
        const hostKey = (yield* testServer(inputOf(allowed))).hostKey?.fingerprint ?? ""
        const works = yield* testServer({ ...inputOf(allowed), useSudo: true, hostKey })
        expect(works.sudo.ok).not.toBe(false)
        const refused = yield* testServer({ ...inputOf(denied), useSudo: true, hostKey })
        expect(refused).toMatchObject({ ready: false, logIn: { ok: true }, sudo: { ok: false }, docker: { ok: null } })
        expect(refused.sudo.fix).toContain("sudoers")
      }))
  })
})
