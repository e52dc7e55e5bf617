import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Layer } from "effect"
import { createHmac } from "node:crypto"
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { MachineAddress } from "../../../src/schema/servers.ts"
import { HostKeyChanged } from "../../../src/schema/ssh.ts"
import { computeFingerprint, type HostKey, HostKeys, parseHostKey } from "../../../src/services/HostKeys.ts"
import { SshClient } from "../../../src/services/sshClient/clientConfig.ts"
import { findKnownHost, refuseNewKeys, withUserKnownHosts } from "../../../src/services/sshClient/knownHosts.ts"
import { hostKeysTest } from "../../../src/testing/SshTest.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

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

  it.scoped("names the place of the key that contradicts, whatever the other place has", () =>
    Effect.gen(function*() {
      const inFile = yield* judged(row(ed), row(other), row(ec))
      expect(inFile.checked).toMatchObject({ remembered: print(other), file: inFile.user, isUsers: true })
      const inVariable = yield* judged(row(ed), row(ec), row(other))
      expect(inVariable.checked).toMatchObject({ remembered: print(other), file: "BERTH_KNOWN_HOSTS" })
      const revoked = yield* judged("", row(ed, "@revoked "), row(ed))
      expect(revoked.checked).toMatchObject({ isRevoked: true, file: revoked.user })
    }))

  it.scoped("counts a file that others may write, as ssh does, and refuses one that cannot be read", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const directory = join(home, ".ssh")
      const file = join(directory, "known_hosts")
      mkdirSync(directory)
      writeFileSync(file, row(other))
      chmodSync(file, 0o666)
      const check = Effect.flatMap(HostKeys, (keys) => withUserKnownHosts(keys).check(gate, ed)).pipe(
        Effect.provide(Layer.merge(hostKeysTest(), Layer.succeed(SshClient, { home, directory, user: "me" })))
      )
      expect(yield* check).toMatchObject({ remembered: print(other), file })
      rmSync(file)
      mkdirSync(file)
      expect(String(yield* Effect.flip(check))).toContain(`The host keys in ${file} could not be used: `)
      rmSync(directory, { recursive: true })
      expect(yield* check).toBe("remembered")
    }))
})

describe("the refusal of a key", () => {
  const refused = (fields: Partial<ConstructorParameters<typeof HostKeyChanged>[0]>) =>
    new HostKeyChanged({
      server: "Gate",
      host: "gate.lan",
      port: 2222,
      remembered: print(other),
      presented: print(ed),
      file: "/home/ann/.ssh/known_hosts",
      isUsers: true,
      ...fields
    }).message

  it("names the command that removes the other one, where there is one", () => {
    expect(refused({})).toMatch(/remove the other one: ssh-keygen -R "\[gate\.lan\]:2222"$/)
    expect(refused({ port: 22 })).toMatch(/remove the other one: ssh-keygen -R "gate\.lan"$/)
    expect(refused({ host: "$(gate)" })).toMatch(/remove the other one$/)
    expect(refused({ file: "BERTH_KNOWN_HOSTS" })).toMatch(/BERTH_KNOWN_HOSTS has SHA256:.* remove the other one$/)
  })
})

describe("findKnownHost", () => {
  const key = (letter: string) => Buffer.from(letter.repeat(40)).toString("base64")
  const print = (letter: string) => computeFingerprint(Buffer.from(letter.repeat(40)))
  const salt = Buffer.from("salt").toString("base64")
  const hashed = (name: string) => `|1|${salt}|${createHmac("sha1", "salt").update(name).digest("base64")}`
  const text = [
    `main.example.com,10.0.0.1 ssh-ed25519 ${key("a")} comment`,
    `${hashed("hidden.example.com")} ssh-ed25519 ${key("b")}`,
    `${hashed("[hidden.example.com]:2222")} ssh-rsa ${key("c")}`,
    `[main.example.com]:2222 ssh-rsa ${key("d")}`,
    `@revoked main.example.com ssh-rsa ${key("e")}`,
    `@cert-authority *.example.com ssh-rsa ${key("f")}`,
    `*.lan,!old.lan ssh-ed25519 ${key("g")}`,
    "# main.example.com ssh-rsa nothing",
    "|1|broken|| ssh-rsa x",
    "main.example.com"
  ].join("\r\n")

  it.each([
    ["main.example.com", 22, ["a"], ["e"]],
    ["MAIN.example.com", 22, ["a"], ["e"]],
    ["10.0.0.1", 22, ["a"], []],
    ["main.example.com", 2222, ["d"], []],
    ["hidden.example.com", 22, ["b"], []],
    ["hidden.example.com", 2222, ["c"], []],
    ["other.example.com", 22, [], []],
    ["new.lan", 22, ["g"], []],
    ["old.lan", 22, [], []]
  ])("of %s:%i", (host, port, keys, revoked) => {
    const found = findKnownHost(text, host, port)
    const printsOf = (isRevoked: boolean) =>
      found.flatMap((each) => each.isRevoked === isRevoked ? [each.fingerprint] : [])
    expect([printsOf(false), printsOf(true)]).toEqual([keys.map(print), revoked.map(print)])
  })

  it("reads anything", () => {
    FastCheck.assert(FastCheck.property(FastCheck.string(), FastCheck.string(), (text, host) => {
      expect(findKnownHost(text, host, 22).length).toBeLessThanOrEqual(text.length)
    }))
  })
})
