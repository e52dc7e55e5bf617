import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { ServerInput } from "../../../../src/schema/servers.ts"
import { type Caller, CurrentCaller, makeLocalCaller } from "../../../../src/services/access/Caller.ts"
import { localSettings, settingsWorkshop } from "../../../fixtures/settingsIn.ts"

const operator: Caller = { name: "ann", role: "operator" }
const as = (caller: Caller) => Effect.provideService(CurrentCaller, caller)

const stored = [
  "servers:",
  "  - { id: gate, name: Gate, host: gate.invalid, username: deb, password: of-gate }",
  "  - { id: inner, name: Inner, host: 10.0.0.5, username: ann, password: of-inner, jump: deb@gate.invalid }",
  "  - { id: keyed, name: Keyed, host: k.invalid, username: k, privateKey: ~/.ssh/id_k }",
  ""
].join("\n")

/** The jump host of `inner` is no stored server; a machine of the operator is. */
const unstored = [
  "servers:",
  "  - { id: inner, name: Inner, host: 10.0.0.5, username: ann, password: of-inner, jump: deb@gate.invalid }",
  "  - { id: evil, name: Evil, host: evil.invalid, port: 2022, username: eve, password: of-evil }",
  ""
].join("\n")

const gate = { name: "Gate", host: "gate.invalid", username: "deb" }
const evil = { host: "evil.invalid", port: 2022, username: "eve" }

describe("the route of a stored server", () => {
  const through = { ...gate, name: "Second", jump: "eve@evil.invalid:2022" }
  const edits: ReadonlyArray<readonly [string, string, ServerInput]> = [
    ["another server at the address of its jump host", unstored, through],
    ["the same in capitals", unstored, { ...through, host: "GATE.invalid" }],
    ["a server at that address with a password", unstored, { ...gate, password: Redacted.make("mine") }],
    ["a jump host of its jump host", stored, { ...gate, id: "gate", jump: "eve@evil.invalid:2022" }],
    ["another address of its jump host", stored, { ...gate, id: "gate", ...evil, password: Redacted.make("mine") }],
    ["another user of its jump host", stored, { ...gate, id: "gate", username: "eve", password: Redacted.make("mine") }]
  ]

  it.scoped.each(edits)("is not changed by a token through %s", ([, file, input]) =>
    Effect.gen(function*() {
      const { read, settings } = yield* settingsWorkshop(file)
      const before = yield* Effect.either(settings.server("inner"))
      for (
        const write of [
          settings.saveServer(input),
          settings.checkServer(input, { newId: undefined, uniqueName: false })
        ]
      ) {
        const refused = yield* Effect.flip(as(operator)(write))
        expect(refused).toMatchObject({ _tag: "ServerForbidden", status: 403 })
        expect(refused.message).toContain("Inner")
        expect(refused.message).toContain("nothing was changed")
      }
      expect(yield* read).toBe(file)
      expect(yield* Effect.either(settings.server("inner"))).toEqual(before)
      yield* as(makeLocalCaller())(settings.saveServer(input))
      expect(yield* read).not.toBe(file)
    }).pipe(Effect.provide(localSettings)))

  it.scoped("is not changed by a token that removes its jump host", () =>
    Effect.gen(function*() {
      const { read, settings } = yield* settingsWorkshop(stored)
      for (const named of ["gate", "Gate"]) {
        const refused = yield* Effect.flip(as(operator)(settings.removeServer(named)))
        expect(refused).toMatchObject({ _tag: "ServerForbidden" })
      }
      yield* as(operator)(settings.removeServer("keyed"))
      expect(yield* read).toContain("id: gate")
      yield* settings.removeServer("gate")
      expect(yield* read).not.toContain("id: gate")
    }).pipe(Effect.provide(localSettings)))

  it.scoped("stays while a token changes the name of its jump host, and its own route", () =>
    Effect.gen(function*() {
      const { read, settings } = yield* settingsWorkshop(stored)
      yield* as(operator)(settings.saveServer({ ...gate, id: "gate", name: "Door" }))
      yield* as(operator)(
        settings.saveServer({
          id: "inner",
          name: "Inner",
          host: "10.0.0.6",
          username: "ann",
          password: Redacted.make("x")
        })
      )
      expect(yield* read).toMatch(/name: Door[\s\S]*10\.0\.0\.6/)
    }).pipe(Effect.provide(localSettings)))
})

describe("credentials of the service's user", () => {
  const own = { name: "Own", ...evil }

  it.scoped("are used by a token only as stored servers use them", () =>
    Effect.gen(function*() {
      const { read, settings } = yield* settingsWorkshop(stored)
      for (const input of [{ ...own, privateKey: "~/.ssh/id_ed25519" }, { ...own, agent: true }]) {
        const refused = yield* Effect.flip(as(operator)(settings.saveServer(input)))
        expect(refused).toMatchObject({ _tag: "ServerForbidden" })
        expect(yield* Effect.flip(as(operator)(settings.permitAccess(input, undefined)))).toEqual(refused)
      }
      // An unstored jump host is logged in to with the keys of the SSH client; one that a stored server uses, as before.
      const through = (jump: string) => ({ ...own, password: Redacted.make("mine"), jump })
      expect(yield* Effect.flip(as(operator)(settings.saveServer(through("x@unstored.invalid"))))).toMatchObject({
        _tag: "ServerForbidden",
        message: expect.stringContaining("would be logged in to with the SSH keys")
      })
      expect(yield* read).toBe(stored)
      yield* as(operator)(settings.saveServer({ ...own, privateKey: "~/.ssh/id_k" }))
      yield* settings.saveServer({ ...own, name: "Local", agent: true })
      yield* as(operator)(settings.saveServer({ ...own, name: "Too", agent: true }))
      expect((yield* read).match(/agent: true/g)).toHaveLength(2)
    }).pipe(Effect.provide(localSettings)))
})

describe("a reference in a server", () => {
  const own = { name: "Own", ...evil, password: Redacted.make("x") }
  const spellings = [
    "${file:/etc/passwd}",
    "${env:HOME}",
    "a${env:HOME}b",
    "${file:berth.yaml}",
    "${env:HOME}${env:USER}"
  ]
  const fields = ["name", "host", "username", "jump", "password", "privateKey", "passphrase", "sudoPassword"] as const

  it.scoped.each(fields)(
    "is not written by a token as its %s, in a new server or a stored one",
    (field) =>
      Effect.gen(function*() {
        const { read, settings } = yield* settingsWorkshop(stored)
        for (const text of spellings) {
          const isSecret = field === "password" || field === "passphrase" || field === "sudoPassword"
          const value = isSecret ? Redacted.make(text) : text
          for (const id of [undefined, "keyed"]) {
            const input = { ...own, ...(id === undefined ? {} : { id }), [field]: value }
            const refused = yield* Effect.flip(as(operator)(settings.saveServer(input)))
            expect([field, text, refused._tag]).toEqual([field, text, "ServerForbidden"])
            expect(refused.message).toContain(`servers[].${field}`)
          }
        }
        expect(yield* read).toBe(stored)
      }).pipe(Effect.provide(localSettings))
  )

  it.scoped("is not written by a token as the id of a new server", () =>
    Effect.gen(function*() {
      const { read, settings } = yield* settingsWorkshop(stored)
      for (const newId of spellings) {
        const save = settings.saveServer(own, { newId, uniqueName: true })
        expect((yield* Effect.flip(as(operator)(save)))._tag).toBe("ServerForbidden")
      }
      expect(yield* read).toBe(stored)
    }).pipe(Effect.provide(localSettings)))

  it.scoped("stays where it stands, and goes with a password to no other address", () =>
    Effect.gen(function*() {
      const text = "servers:\n  - { id: a, name: A, host: a.invalid, username: u, password: \"${env:BERTH_A}\" }\n"
      const { read, settings } = yield* settingsWorkshop(text)
      const same = { id: "a", name: "A", host: "a.invalid", username: "u", password: Redacted.make("${env:BERTH_A}") }
      yield* as(operator)(settings.saveServer({ ...same, name: "B" }))
      expect(yield* read).toBe(text.replace("name: A", "name: B"))
      for (const moved of [{ host: "evil.invalid" }, { port: 2 }, { username: "eve" }, { jump: "eve@evil.invalid" }]) {
        const refused = yield* Effect.flip(as(operator)(settings.saveServer({ ...same, ...moved })))
        expect([moved, refused._tag]).toEqual([moved, "ServerForbidden"])
      }
      expect(yield* read).toBe(text.replace("name: A", "name: B"))
    }).pipe(Effect.provide(localSettings)))
})
