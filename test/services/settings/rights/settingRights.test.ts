import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { secretSettings, settingDefinitions, type SettingName } from "../../../../src/schema/settings.ts"
import type { SettingJson } from "../../../../src/schema/settingsList.ts"
import { type Caller, CurrentCaller } from "../../../../src/services/access/Caller.ts"
import { parseSettingsDocument, type SettingsDocument } from "../../../../src/services/settings/document.ts"
import {
  deliveries,
  findSettingRefusal,
  permitSettings,
  type SettingChanges
} from "../../../../src/services/settings/rights.ts"
import { isList } from "../../../../src/services/settings/settingValue.ts"
import { editSetting } from "../../../../src/services/settings/values.ts"
import { patience } from "../../../fixtures/patience.ts"
import { localSettings, settingsWorkshop } from "../../../fixtures/settingsIn.ts"
import { inPart } from "../../../fixtures/thorough.ts"

const operator: Caller = { name: "ann", role: "operator" }
const asOperator = Effect.provideService(CurrentCaller, operator)

const file = `token: general-secret
platform: { url: "https://p.test", token: platform-secret, webhookUrl: "https://hooks.p.test" }
gitHost: { url: "https://g.test", token: git-secret, webhookSecret: hook-secret }
`
const ownSecrets = ["general-secret", "platform-secret", "git-secret", "hook-secret"]

const addresses = ["platform.url", "platform.webhookUrl", "gitHost.url"] as const
const secrets = ["platform.token", "gitHost.token", "token", "gitHost.webhookSecret"] as const

describe("a change of settings by a token", () => {
  it("is compared for every secret that leaves the machine", () => {
    const compared = deliveries.flatMap((row) => row.secrets)
    for (const secret of secretSettings) {
      const isClosed = findSettingRefusal(secret, operator) !== undefined
      expect([secret, compared.includes(secret) || isClosed]).toEqual([secret, true])
    }
    // An address among the settings is one of these, or not for callers with a token.
    const named = Object.keys(settingDefinitions).filter((name) => /url$/i.test(name))
    const all = [...new Set([...named, ...deliveries.flatMap((row) => row.addresses)])]
    const open = all.filter((name) => findSettingRefusal(name, operator) === undefined)
    expect(open.toSorted()).toEqual(addresses.toSorted())
  })

  const evil = "https://evil.test"
  const single: ReadonlyArray<Readonly<Record<string, SettingJson>>> = [
    ...addresses.flatMap((name) => [{ [name]: evil }, { [name]: null }]),
    ...secrets.flatMap((name) => [{ [name]: "his" }, { [name]: null }, { [name]: "" }])
  ]
  const pairs = addresses.flatMap((
    address
  ) => secrets.flatMap((secret) => ["his", null, ""].map((value) => ({ [address]: evil, [secret]: value }))))
  const all = [
    ...single,
    ...pairs,
    ...["his", null, ""].map((value) => ({
      "gitHost.url": evil,
      "gitHost.token": value,
      "gitHost.webhookSecret": "his"
    })),
    { "gitHost.url": evil, "gitHost.token": null, token: "his", "gitHost.webhookSecret": null },
    { "platform.url": evil, "platform.token": "his", "gitHost.webhookSecret": "his" }
  ]

  /** The text after a change, if it is permitted. */
  const changed = (text: string, changes: SettingChanges) =>
    Effect.gen(function*() {
      const before = yield* parseSettingsDocument("berth.yaml", text)
      let after = text
      for (const [name, value] of Object.entries(changes)) after = yield* editSetting(after, name, value)
      const document = yield* parseSettingsDocument("berth.yaml", after)
      const permitted = yield* Effect.option(asOperator(permitSettings(before, document, changes)))
      return Option.isSome(permitted) ? { document, text: after } : undefined
    })

  const reached = ({ settings }: SettingsDocument) => {
    const textOf = (name: SettingName) => {
      const written = settings[name]?.written
      return written === undefined || isList(written) ? "" : written.text
    }
    return deliveries.flatMap(({ addresses, secrets }) =>
      addresses.map((address) => [textOf(address), secrets.map(textOf).find((text) => text !== "") ?? ""] as const)
    )
  }

  it.effect("sends no stored secret to another address, in any sequence of two changes", () =>
    Effect.gen(function*() {
      let [allowed, refused] = [0, 0]
      // Every change comes first, and every ninth one after each in a part of the run.
      for (const [at, first] of all.entries()) {
        const once = yield* changed(file, first)
        for (const second of inPart(all, all.filter((_, index) => (index + at) % 9 === 0))) {
          const twice = yield* changed(once?.text ?? file, second)
          if (twice === undefined) refused += 1
          else allowed += 1
          for (const [to, secret] of twice === undefined ? [] : reached(twice.document)) {
            if (to === evil) expect([first, second, ownSecrets.includes(secret)]).toEqual([first, second, false])
          }
        }
      }
      expect([allowed > 30, refused > 30]).toEqual([true, true])
    }), 30_000 * patience)

  it.scoped("is refused when planned as when made, and then writes nothing", () =>
    Effect.gen(function*() {
      const { read, settings, write } = yield* settingsWorkshop(file)
      for (const change of all) {
        yield* write(file)
        const planned = yield* Effect.either(asOperator(settings.planChange(change)))
        const saved = yield* Effect.either(asOperator(settings.changeSettings(change)))
        expect([change, Either.isRight(saved)]).toEqual([change, Either.isRight(planned)])
        if (Either.isLeft(saved)) expect(yield* read).toBe(file)
      }
    }).pipe(Effect.provide(localSettings)))

  it.scoped("says which secret has to come along", () =>
    Effect.gen(function*() {
      const { settings } = yield* settingsWorkshop(file)
      const refusal = (changes: Readonly<Record<string, SettingJson>>) =>
        Effect.map(Effect.flip(asOperator(settings.changeSettings(changes))), ({ message }) => message)
      expect(yield* refusal({ "platform.url": evil })).toBe(
        "platform.url would send the stored token to another address, unless the same change gives platform.token and " +
          "gitHost.webhookSecret, so only the user of the service's machine may do that: nothing was changed. Run berth " +
          "settings set there, or edit the file"
      )
      expect(yield* refusal({ "gitHost.token": null })).toContain(
        "gitHost.token would send the stored token to the address in gitHost.url, unless the same change gives gitHost.token"
      )
      expect(yield* refusal({ "platform.webhookUrl": evil })).toContain(
        "would send the stored secret to another address"
      )
      expect(yield* refusal({ "gitHost.url": "http://169.254.169.254/", "gitHost.token": "x" })).toContain("link-local")
    }).pipe(Effect.provide(localSettings)))

  it.scoped("writes a reference only where the file holds it", () =>
    Effect.gen(function*() {
      const text = "proxy: { targetIp: \"${env:BERTH_IP}\" }\ngitHost: { owner: a }\n"
      const { read, settings } = yield* settingsWorkshop(text)
      const references = ["${env:HOME}", "a${file:/etc/passwd}", "${env:BERTH_IP} "]
      for (const name of ["proxy.targetIp", "gitHost.owner", "platform.token", "gitHost.sshHost", "proxy.server"]) {
        for (const value of references) {
          const refused = yield* Effect.flip(asOperator(settings.changeSettings({ [name]: value })))
          expect([name, value, refused._tag]).toEqual([name, value, "SettingForbidden"])
        }
      }
      expect(
        (yield* Effect.flip(asOperator(settings.changeSettings({ "platform.localAliases": ["a", "${env:HOME}"] }))))
          ._tag
      ).toBe("SettingForbidden")
      yield* asOperator(settings.changeSettings({ "proxy.targetIp": "${env:BERTH_IP}", "gitHost.owner": "b" }))
      expect(yield* read).toBe(text.replace("owner: a", "owner: b"))
    }).pipe(Effect.provide(localSettings)))

  it.scoped("keeps the history of runs for a day at least", () =>
    Effect.gen(function*() {
      const { settings } = yield* settingsWorkshop(file)
      for (const keep of ["1 milli", "0 millis", "23 hours", 1, "1"]) {
        const change = settings.changeSettings({ "runs.keep": keep })
        expect([keep, Either.isLeft(yield* Effect.either(asOperator(change)))]).toEqual([keep, true])
      }
      for (const keep of ["1 day", "25 hours", null]) yield* asOperator(settings.changeSettings({ "runs.keep": keep }))
      yield* settings.changeSettings({ "runs.keep": "1 hour" })
    }).pipe(Effect.provide(localSettings)))
})
