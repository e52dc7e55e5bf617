import { expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted, Ref, Scope, TestClock } from "effect"
import { Post } from "../../../src/services/notify/Post.ts"
import { InstanceLive } from "../../../src/services/runs/Runs.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { Telemetry, TelemetryLive } from "../../../src/services/telemetry/Telemetry.ts"
import { type SettingsFixture, settingsTest } from "../../../src/testing/SettingsTest.ts"

it.effect("exports for as long as the settings name a collector, and to the one that they name", () =>
  Effect.gen(function*() {
    const sent: Array<string> = []
    const named = yield* Ref.make<SettingsFixture>({})
    const post = Layer.succeed(Post, {
      send: (url, { headers }) =>
        Effect.sync(() => {
          sent.push([Redacted.value(url), headers["x-key"] ?? ""].join(" "))
          return 200
        })
    })
    const settings = Layer.effect(
      Settings,
      Effect.gen(function*() {
        const given = yield* Settings
        const now = Effect.flatMap(
          Ref.get(named),
          (fixture) => Effect.flatMap(Settings, (found) => found.now).pipe(Effect.provide(settingsTest(fixture)))
        )
        return { ...given, now }
      })
    ).pipe(Layer.provide(settingsTest()))
    const scope = yield* Scope.make()
    const layer = TelemetryLive.pipe(Layer.provide(Layer.mergeAll(post, settings, InstanceLive)))
    const { serve, tracer } = Context.get(yield* Layer.buildWithScope(layer, scope), Telemetry)
    const measured = yield* Ref.make(0)
    yield* Scope.extend(serve(Ref.update(measured, (count) => count + 1)), scope)
    const deployed = Effect.withTracer(Effect.withSpan(Effect.void, "run.deploy"), tracer)
    /** Requests of half a minute, once the settings are read again and an exporter is loaded. */
    const following = (fixture: SettingsFixture) =>
      Effect.gen(function*() {
        yield* Ref.set(named, fixture)
        yield* TestClock.adjust("11 seconds")
        yield* Effect.promise(() => import("../../../src/services/telemetry/export.ts"))
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
        sent.length = 0
        yield* deployed
        yield* TestClock.adjust("30 seconds")
        return [...new Set(sent)].sort()
      })
    expect(yield* following({})).toEqual([])
    expect(yield* Ref.get(measured)).toBe(0)
    const one = { "telemetry.otlp": "https://one.test", "telemetry.headers": Redacted.make("x-key=k") }
    expect(yield* following(one)).toEqual(["https://one.test/v1/metrics k", "https://one.test/v1/traces k"])
    expect(yield* Ref.get(measured)).toBeGreaterThan(0)
    expect(yield* following({ "telemetry.otlp": "https://two.test/in/" })).toEqual([
      "https://two.test/in/v1/metrics ",
      "https://two.test/in/v1/traces "
    ])
    expect(yield* following({})).toEqual([])
    yield* Scope.close(scope, Exit.void)
  }))
