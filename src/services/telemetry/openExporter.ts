import * as OtlpMetrics from "@effect/opentelemetry/OtlpMetrics"
import { OtlpSerialization } from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import { HttpBody, HttpClient } from "@effect/platform"
import { type Duration, Effect, ExecutionStrategy, Layer, Predicate, Scope } from "effect"
import { parseHeaderList } from "../../schema/basics/headerList.ts"
import { version } from "../../schema/version.ts"
import { metricPrefix } from "../metrics/metrics.ts"
import type { Post } from "../notify/Post.ts"
import { Instance } from "../runs/Instance.ts"
import type { ExportSpan } from "./ExportSpan.ts"
import { makeCollectorClient } from "./makeCollectorClient.ts"
import { makeExportSpan } from "./makeExportSpan.ts"

const body = (data: unknown, replacer: (key: string, value: unknown) => unknown) =>
  HttpBody.text(JSON.stringify(data, replacer), "application/json")

const isNamed = (value: unknown, test: (name: string) => boolean, key: "key" | "name") =>
  Predicate.hasProperty(value, key) && Predicate.isString(value[key]) && test(value[key])

/** The exporter attaches these to every failed span, interrupted or not. */
const isMisleading = (name: string) => name === "span.label" || name === "status.interrupted"

/** Serializes OTLP as JSON, with Berth's own metrics alone. Logs are not exported. */
const otlpJson: Layer.Layer<OtlpSerialization> = Layer.succeed(OtlpSerialization, {
  traces: (data) =>
    body(data, (key, value) =>
      key === "attributes" && Array.isArray(value)
        ? value.filter((one) => !isNamed(one, isMisleading, "key"))
        : value),
  metrics: (data) =>
    body(data, (key, value) =>
      key === "metrics" && Array.isArray(value)
        ? value.filter((one) => isNamed(one, (name) => name.startsWith(metricPrefix), "name"))
        : value),
  logs: () => HttpBody.empty
})

/** Collector and export intervals. */
export interface ExporterOptions {
  readonly url: string
  /** Text of the setting `telemetry.headers`. */
  readonly headers: string
  readonly spanInterval?: Duration.DurationInput
  readonly metricInterval?: Duration.DurationInput
}

const flushTimeout: Duration.DurationInput = "2 seconds"

/** Exports until the scope closes, which flushes the rest within two seconds. */
export const openExporter = (
  { headers, metricInterval = "15 seconds", spanInterval = "5 seconds", url }: ExporterOptions
): Effect.Effect<ExportSpan, never, Instance | Post | Scope.Scope> =>
  Effect.gen(function*() {
    const { id } = yield* Instance
    const client = Layer.succeed(HttpClient.HttpClient, yield* makeCollectorClient(url))
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const base = url.replace(/\/$/, "")
    const common = {
      resource: { serviceName: "berth", serviceVersion: version, attributes: { "service.instance.id": id } },
      headers: headers === "" ? {} : parseHeaderList(headers),
      shutdownTimeout: flushTimeout
    }
    /** Each exporter has its own scope, so that a shutdown waits for both concurrently. */
    const inOwnScope = <A, R>(made: Effect.Effect<A, never, R | Scope.Scope>) =>
      Effect.flatMap(Scope.fork(scope, ExecutionStrategy.sequential), (own) => Scope.extend(made, own))
    yield* inOwnScope(OtlpMetrics.make({ ...common, url: `${base}/v1/metrics`, exportInterval: metricInterval })).pipe(
      Effect.provide([client, otlpJson])
    )
    const tracer = yield* inOwnScope(
      OtlpTracer.make({ ...common, url: `${base}/v1/traces`, exportInterval: spanInterval })
    ).pipe(Effect.provide([client, otlpJson]))
    return makeExportSpan(tracer)
  })
