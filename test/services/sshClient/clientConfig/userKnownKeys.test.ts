import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { computeFingerprint, type HostKey, HostKeys, parseHostKey } from "../../../../src/services/HostKeys.ts"
import { refuseNewKeys, SshClient, withUserKnownHosts } from "../../../../src/services/sshClient/clientConfig.ts"
import { hostKeysTest } from "../../../../src/testing/SshTest.ts"
import { temporaryDirectory } from "../../../layers/temporary.ts"

const key = (type: string, text: string): HostKey => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  return parseHostKey(Buffer.concat([length, Buffer.from(type), Buffer.from(text)]))
}
const ed = key("ssh-ed25519", "one")
const ec = key("ecdsa-sha2-nistp256", "two")
const rsa = key("ssh-rsa", "three")
const row = ({ blob, type }: HostKey, marker = "") =>
  `${marker}gate.lan ${type} ${Buffer.from(blob).toString("base64")}\n`
const gate = { host: "gate.lan", port: 22 }

/** Checks `ed` with these entries of Berth's file, of the user's known_hosts and of the variable. */
const judged = (own: string, user: string, knownHosts?: string) =>
  Effect.gen(function*() {
    const home = yield* temporaryDirectory
    const directory = join(home, ".ssh")
    mkdirSync(directory)
    writeFileSync(join(directory, "known_hosts"), user, { mode: 0o600 })
    const check = Effect.gen(function*() {
      const keys = yield* HostKeys
      const known = withUserKnownHosts(keys)
      return {
        types: yield* known.knownTypes(gate),
        standing: yield* known.standing(gate, ed),
        kept: yield* refuseNewKeys(keys).check(gate, ed),
        checked: yield* known.check(gate, ed),
        user: join(directory, "known_hosts")
      }
    })
    return yield* Effect.provide(
      check,
      Layer.merge(hostKeysTest(own), Layer.succeed(SshClient, { home, directory, user: "me", knownHosts }))
    )
  })

const print = ({ blob }: HostKey) => computeFingerprint(blob)

describe("a host key that the user's known_hosts is asked about", () => {
  it.scoped.each<readonly [what: string, own: string, user: string, types: ReadonlyArray<string>, standing: string]>([
    ["neither file knows", "", "", [], "new"],
    ["known_hosts has", "", row(ed), ["ssh-ed25519"], "known"],
    ["known_hosts has among others", "", row(rsa) + row(ed), ["ssh-rsa", "ssh-ed25519"], "known"],
    ["Berth has, whatever known_hosts says", row(ed), row(ec), ["ssh-ed25519"], "known"]
  ])("%s", ([, own, user, types, standing]) =>
    Effect.gen(function*() {
      const found = yield* judged(own, user)
      expect([found.types, found.standing]).toEqual([types, standing])
      expect(found.kept).toEqual(
        standing === "new" ? { remembered: "", presented: print(ed), file: "known_hosts" } : "known"
      )
      expect(found.checked).toBe(own === "" ? "remembered" : "known")
    }))

  it.scoped.each<readonly [what: string, own: string, user: string, remembered: string, file: "own" | "user"]>([
    ["of the same type", "", row(key("ssh-ed25519", "other")), print(key("ssh-ed25519", "other")), "user"],
    ["of another type", "", row(ec), print(ec), "user"],
    ["of several other types", "", row(ec) + row(rsa), `${print(ec)} or ${print(rsa)}`, "user"],
    ["in Berth's file", row(ec), row(ed), print(ec), "own"]
  ])("is refused with the file that has another one %s", ([, own, user, remembered, file]) =>
    Effect.gen(function*() {
      const found = yield* judged(own, user)
      const mismatch = { remembered, presented: print(ed), file: file === "own" ? "known_hosts" : found.user }
      expect([found.standing, found.kept, found.checked]).toEqual([mismatch, mismatch, mismatch])
    }))

  it.scoped.each<readonly [string, string]>([["new", ""], ["remembered", row(ed)]])(
    "is refused where it is revoked, though it is %s",
    ([, own]) =>
      Effect.gen(function*() {
        const found = yield* judged(own, row(ec) + row(ed, "@revoked "))
        const revoked = { remembered: print(ec), presented: print(ed), file: found.user, isRevoked: true }
        expect([found.standing, found.kept, found.checked]).toEqual([revoked, revoked, revoked])
      })
  )

  it.scoped("counts lines of the variable like those of the file", () =>
    Effect.gen(function*() {
      const known = yield* judged("", "", row(ed).trim())
      expect([known.types, known.standing, known.kept]).toEqual([["ssh-ed25519"], "known", "known"])
      const mismatch = { remembered: print(ec), presented: print(ed), file: "BERTH_KNOWN_HOSTS" }
      expect((yield* judged("", "", row(ec))).checked).toEqual(mismatch)
      const revoked = yield* judged("", row(ed, "@revoked "), row(ed))
      expect(revoked.standing).toMatchObject({ isRevoked: true })
    }))
})
