import { expect, it } from "@effect/vitest"
import { Duration, Effect, Ref, TestClock } from "effect"
import { SettingMissing } from "../../../src/schema/settings.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { purgeRuns } from "../../../src/services/state/RunStoreLive.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"

/** Ages in days beyond which runs were purged within seven hours. */
const purgedAges = (isReadable: boolean) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const ages = yield* Ref.make<ReadonlyArray<number>>([])
    yield* TestClock.setTime(Duration.toMillis("1000 days"))
    const purge = (before: number) => Ref.update(ages, (all) => [...all, 1_000 - before / Duration.toMillis("1 day")])
    const unreadable = { ...settings, get: () => new SettingMissing({ file: settings.file, setting: "runs.keep" }) }
    yield* Effect.fork(purgeRuns({ purge }, isReadable ? settings : unreadable))
    yield* TestClock.adjust("7 hours")
    return (yield* Ref.get(ages)).map(Math.round)
  }).pipe(Effect.provide(settingsTest({ "runs.keep": Duration.days(365) })))

it.effect("purges runs by the setting, every six hours", () =>
  Effect.gen(function*() {
    expect(yield* purgedAges(true)).toEqual([365, 365])
  }))

it.effect("purges nothing while the settings cannot be read, since they may keep runs for longer", () =>
  Effect.gen(function*() {
    expect(yield* purgedAges(false)).toEqual([])
  }))
