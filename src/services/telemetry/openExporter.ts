import * as OtlpMetrics from "@effect/opentelemetry/OtlpMetrics"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import { HttpClient } from "@effect/platform"
import { type Duration, Effect, ExecutionStrategy, Layer, Scope } from "effect"
import { headerList } from "../../schema/basics/headerList.ts"
import { version } from "../../schema/version.ts"
import type { Post } from "../notify/Post.ts"
import { Instance } from "../runs/Instance.ts"
import { collectorClient } from "./collectorClient.ts"
import { exportedSpans } from "./exportedSpans.ts"
import type { ExportSpan } from "./ExportSpan.ts"
import { otlpJson } from "./otlpJson.ts"

/** Collector and the intervals at which it is sent to. */
export interface ExporterOptions {
  readonly url: string
  /** Text of the setting `telemetry.headers`. */
  readonly headers: string
  readonly spanInterval?: Duration.DurationInput
  readonly metricInterval?: Duration.DurationInput
}

const flushTimeout: Duration.DurationInput = "2 seconds"

/** Exports until the scope closes, which sends what is left within two seconds. */
export const openExporter = (
  { headers, metricInterval = "15 seconds", spanInterval = "5 seconds", url }: ExporterOptions
): Effect.Effect<ExportSpan, never, Instance | Post | Scope.Scope> =>
  Effect.gen(function*() {
    const { id } = yield* Instance
    const client = Layer.succeed(HttpClient.HttpClient, yield* collectorClient(url))
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const base = url.replace(/\/$/, "")
    const common = {
      resource: { serviceName: "berth", serviceVersion: version, attributes: { "service.instance.id": id } },
      headers: headers === "" ? {} : headerList(headers),
      shutdownTimeout: flushTimeout
    }
    /** Each in a scope of its own, so that a shutdown waits for both at the same time. */
    const inOwnScope = <A, R>(made: Effect.Effect<A, never, R | Scope.Scope>) =>
      Effect.flatMap(Scope.fork(scope, ExecutionStrategy.sequential), (own) => Scope.extend(made, own))
    yield* inOwnScope(OtlpMetrics.make({ ...common, url: `${base}/v1/metrics`, exportInterval: metricInterval })).pipe(
      Effect.provide([client, otlpJson])
    )
    const tracer = yield* inOwnScope(
      OtlpTracer.make({ ...common, url: `${base}/v1/traces`, exportInterval: spanInterval })
    ).pipe(Effect.provide([client, otlpJson]))
    return exportedSpans(tracer)
  })
