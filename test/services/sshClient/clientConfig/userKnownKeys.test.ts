import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { MachineAddress } from "../../../../src/schema/servers.ts"
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
const other = key("ssh-ed25519", "other")
const gate = { host: "gate.lan", port: 22 }

/** Checks `ed` with these entries of Berth's file, of the user's known_hosts and of the variable. */
const judged = (own: string, user: string, knownHosts?: string, asked: MachineAddress = gate) =>
  Effect.gen(function*() {
    const home = yield* temporaryDirectory
    const directory = join(home, ".ssh")
    mkdirSync(directory)
    writeFileSync(join(directory, "known_hosts"), user, { mode: 0o600 })
    const check = Effect.gen(function*() {
      const keys = yield* HostKeys
      const told: Array<string> = []
      const known = withUserKnownHosts(
        keys,
        ({ host }, { type }) => Effect.sync(() => void told.push(`${host} ${type}`))
      )
      return {
        types: yield* known.knownTypes(asked),
        standing: yield* known.standing(asked, ed),
        kept: yield* refuseNewKeys(keys).check(asked, ed),
        checked: yield* known.check(asked, ed),
        again: yield* known.check(asked, ed),
        told,
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
    ["both files have", row(ed), row(ed), ["ssh-ed25519"], "known"],
    ["Berth has, and known_hosts has one of another type", row(ed), row(ec), ["ssh-ed25519"], "known"],
    [
      "Berth has, and known_hosts has beside another one of its type",
      row(ed),
      row(other) + row(ed),
      ["ssh-ed25519"],
      "known"
    ]
  ])("%s", ([, own, user, types, standing]) =>
    Effect.gen(function*() {
      const found = yield* judged(own, user)
      expect([found.types, found.standing]).toEqual([types, standing])
      expect(found.kept).toEqual(
        standing === "new" ? { remembered: "", presented: print(ed), file: "known_hosts" } : "known"
      )
      expect([found.checked, found.again]).toEqual([own === "" ? "remembered" : "known", "known"])
      // A key that nobody had is told once, and no other one.
      expect(found.told).toEqual(standing === "new" ? ["gate.lan ssh-ed25519"] : [])
    }))

  it.scoped.each<readonly [what: string, own: string, user: string, remembered: string, file: "own" | "user"]>([
    ["of the same type", "", row(other), print(other), "user"],
    ["of the same type, though Berth remembers it", row(ed), row(other), print(other), "user"],
    ["of the same type and of others, though Berth remembers it", row(ed), row(ec) + row(other), print(other), "user"],
    ["of another type", "", row(ec), print(ec), "user"],
    ["of several other types", "", row(ec) + row(rsa), `${print(ec)} or ${print(rsa)}`, "user"],
    ["in Berth's file", row(ec), row(ed), print(ec), "own"]
  ])("is refused with the file that has another one %s", ([, own, user, remembered, file]) =>
    Effect.gen(function*() {
      const found = yield* judged(own, user)
      const mismatch = {
        remembered,
        presented: print(ed),
        ...file === "own" ? { file: "known_hosts" } : { file: found.user, isUsers: true }
      }
      expect([found.standing, found.kept, found.checked, found.again]).toEqual([mismatch, mismatch, mismatch, mismatch])
      expect(found.told).toEqual([])
    }))

  it.scoped.each<readonly [string, string]>([["new", ""], ["remembered", row(ed)]])(
    "is refused where it is revoked, though it is %s",
    ([, own]) =>
      Effect.gen(function*() {
        const found = yield* judged(own, row(ec) + row(ed, "@revoked "))
        const revoked = {
          remembered: print(ec),
          presented: print(ed),
          file: found.user,
          isUsers: true,
          isRevoked: true
        }
        expect([found.standing, found.kept, found.checked]).toEqual([revoked, revoked, revoked])
      })
  )

  it.scoped("counts whatever known_hosts has where the settings require it, and is told to nobody", () =>
    Effect.gen(function*() {
      const required = { ...gate, hostKey: print(ed) }
      const found = yield* judged(row(other), row(other), undefined, required)
      expect([found.standing, found.kept, found.checked, found.told]).toEqual(["known", "known", "known", []])
      const refused = yield* judged("", row(ed), undefined, { ...gate, hostKey: print(ec) })
      expect(refused.checked).toMatchObject({ remembered: print(ec), isRequired: true })
    }))

  it.scoped("counts lines of the variable like those of the file", () =>
    Effect.gen(function*() {
      const known = yield* judged("", "", row(ed).trim())
      expect([known.types, known.standing, known.kept]).toEqual([["ssh-ed25519"], "known", "known"])
      const mismatch = { remembered: print(ec), presented: print(ed), file: "BERTH_KNOWN_HOSTS", isUsers: true }
      expect((yield* judged("", "", row(ec))).checked).toEqual(mismatch)
      const revoked = yield* judged("", row(ed, "@revoked "), row(ed))
      expect(revoked.standing).toMatchObject({ isRevoked: true })
    }))
})
