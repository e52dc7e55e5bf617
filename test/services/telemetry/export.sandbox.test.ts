import { describe, expect, it } from "@effect/vitest"
import { type Duration, Effect, Exit, Layer, Logger, Metric, Option, Schedule, Scope, Tracer } from "effect"
import { PostLive } from "../../../src/services/notify/PostLive.ts"
import { InstanceLive } from "../../../src/services/runs/Runs.ts"
import { type ExportSpan, openExporter } from "../../../src/services/telemetry/export.ts"
import { metricsOf, resourcesOf, spansOf, startCollector, valuesOf } from "../../fixtures/network/collector.ts"
import { freePort } from "../../fixtures/network/freePort.ts"
import { patience } from "../../fixtures/patience.ts"

const services = Layer.merge(PostLive, InstanceLive)

/** Lines of the log of an effect. */
const logged = <A, E, R>(use: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push([message].flat().join(" ")))
    return Effect.provide(use(lines), Logger.replace(Logger.defaultLogger, logger))
  })

const opened = (url: string, intervals: Duration.DurationInput, headers = "") =>
  openExporter({ url, headers, spanInterval: intervals, metricInterval: intervals })

const tracerOf = (exportSpan: ExportSpan) =>
  Effect.map(Effect.tracer, (native) =>
    Tracer.make({
      span: (...span) => exportSpan(...span) ?? native.span(...span),
      context: (run, fiber) => native.context(run, fiber)
    }))

const spanned = (exportSpan: ExportSpan, name: string) =>
  Effect.flatMap(tracerOf(exportSpan), (tracer) => Effect.withTracer(Effect.withSpan(Effect.void, name), tracer))

const until = (holds: () => boolean) =>
  Effect.sync(holds).pipe(
    Effect.repeat({ until: (held) => held, schedule: Schedule.spaced("20 millis") }),
    Effect.timeout("60 seconds")
  )

describe("the exporter of telemetry", () => {
  it.scopedLive("sends spans and Berth's own metrics, with the headers of the setting", () =>
    Effect.gen(function*() {
      const collector = yield* startCollector()
      const other = Metric.counter("other_total", { incremental: true })
      yield* Metric.increment(other)
      yield* Metric.increment(Metric.tagged(Metric.counter("berth_otlp_test_total", { incremental: true }), "a", "b"))
      const scope = yield* Scope.make()
      const exportSpan = yield* Scope.extend(
        opened(`${collector.url}/`, "1 hour", "Authorization=Bearer%20abc"),
        scope
      )
      yield* spanned(exportSpan, "run.deploy")
      expect(collector.received).toEqual([])
      // The rest is sent at the end.
      yield* Scope.close(scope, Exit.void)
      expect(collector.received.map(({ path }) => path).sort()).toEqual(["/v1/metrics", "/v1/traces"])
      for (const { headers } of collector.received) {
        expect(headers).toMatchObject({
          "authorization": "Bearer abc",
          "content-type": "application/json",
          "user-agent": expect.stringMatching(/^Berth\//)
        })
      }
      expect(spansOf(collector)).toMatchObject([{ name: "run.deploy", kind: 1, status: { code: 1 } }])
      expect(resourcesOf(collector)).toMatchObject([{
        "service.name": "berth",
        "service.version": expect.any(String),
        "service.instance.id": expect.stringMatching(/^[0-9a-f-]{36}$/)
      }])
      const [metrics = []] = metricsOf(collector)
      expect(valuesOf(metrics, "berth_otlp_test_total")).toEqual([{ labels: { a: "b" }, value: 1 }])
      expect(metrics.filter(({ name }) => !String(name).startsWith("berth_"))).toEqual([])
    }).pipe(Effect.provide(services)))

  it.scopedLive.each([307, 401, 500])(
    "warns once of a collector that answers %i, and goes on",
    (status) =>
      logged((lines) =>
        Effect.gen(function*() {
          const collector = yield* startCollector(status)
          const exportSpan = yield* opened(collector.url, "20 millis", "x-key=hush-hush")
          yield* spanned(exportSpan, "run.deploy")
          yield* until(() => collector.received.length >= 4)
          expect(lines.filter((line) => line.includes("was not exported"))).toEqual([
            expect.stringContaining(`it answered ${status}`)
          ])
          expect(lines.join("\n")).not.toContain("hush")
          expect(collector.received.filter(({ path }) => path === "/elsewhere")).toEqual([])
        })
      ).pipe(Effect.provide(services)),
    120_000 * patience
  )

  it.scopedLive(
    "says when a collector that was away takes exports again",
    () =>
      logged((lines) =>
        Effect.gen(function*() {
          const port = yield* freePort
          yield* opened(`http://127.0.0.1:${port}`, "20 millis")
          yield* until(() => lines.some((line) => line.includes("cannot be reached")))
          const collector = yield* startCollector(200, port)
          yield* until(() => lines.some((line) => line.includes("again")))
          expect(collector.received.length).toBeGreaterThan(0)
          expect(lines.filter((line) => line.includes("was not exported")).length).toBe(1)
        })
      ).pipe(Effect.provide(services)),
    120_000 * patience
  )

  it.scopedLive("does not wait at the end for a collector that never answers", () =>
    Effect.gen(function*() {
      const collector = yield* startCollector(null)
      const scope = yield* Scope.make()
      const exportSpan = yield* Scope.extend(opened(collector.url, "1 hour"), scope)
      yield* spanned(exportSpan, "run.deploy")
      // Its time-out is ten seconds, and an export is tried four times.
      const closed = yield* Effect.timeoutOption(Effect.disconnect(Scope.close(scope, Exit.void)), "9 seconds")
      expect(Option.isSome(closed)).toBe(true)
      expect(collector.received.map(({ path }) => path).sort()).toEqual(["/v1/metrics", "/v1/traces"])
    }).pipe(Effect.provide(services)), 60_000 * patience)
})
