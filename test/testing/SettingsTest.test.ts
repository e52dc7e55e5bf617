import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Redacted } from "effect"
import { Settings } from "../../src/services/settings/Settings.ts"
import { settingsTest } from "../../src/testing/SettingsTest.ts"

const main = {
  id: "1",
  name: "Main",
  host: "10.0.0.1",
  port: 22,
  username: "u",
  useSudo: true,
  credentials: { password: Redacted.make("pw"), agent: true }
}

describe("settingsTest", () => {
  it.effect("has what is given, and the defaults for the rest", () =>
    Effect.gen(function*() {
      const settings = yield* Settings
      expect(yield* settings.get("platform.url")).toBe("http://platform")
      expect(yield* settings.get("platform.timeout")).toEqual(Duration.seconds(1))
      expect(yield* settings.get("gitHost.sshPort")).toBe(2004)
      expect(yield* settings.find("token")).toEqual(Option.none())
      expect((yield* Effect.flip(settings.get("token")))._tag).toBe("SettingMissing")
      expect((yield* settings.guard).hosts).toEqual(["h"])
    }).pipe(Effect.provide(settingsTest({
      "platform.url": "http://platform",
      "platform.timeout": Duration.seconds(1),
      "http.hosts": ["h"]
    }))))

  it.effect("keeps servers as the file does", () =>
    Effect.gen(function*() {
      const settings = yield* Settings
      const { credentials: _, ...shown } = main
      expect(yield* settings.servers).toEqual([shown])
      expect(yield* settings.server("1")).toEqual(main)
      const saved = yield* settings.saveServer({ name: "New", host: "h", username: "u" })
      yield* settings.removeServer("1")
      expect(yield* settings.servers).toEqual([saved])
    }).pipe(Effect.provide(settingsTest({}, [main]))))
})
