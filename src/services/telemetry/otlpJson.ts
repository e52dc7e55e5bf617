import { OtlpSerialization } from "@effect/opentelemetry/OtlpSerialization"
import { HttpBody } from "@effect/platform"
import { Layer, Predicate } from "effect"
import { metricPrefix } from "../metrics/metrics.ts"

const body = (data: unknown, replacer: (key: string, value: unknown) => unknown) =>
  HttpBody.text(JSON.stringify(data, replacer), "application/json")

const isNamed = (value: unknown, test: (name: string) => boolean, key: "key" | "name") =>
  Predicate.hasProperty(value, key) && Predicate.isString(value[key]) && test(value[key])

/** The exporter attaches these to every failed span, interrupted or not. */
const isMisleading = (name: string) => name === "span.label" || name === "status.interrupted"

/** JSON of OTLP with Berth's own metrics alone; logs are not exported. */
export const otlpJson: Layer.Layer<OtlpSerialization> = Layer.succeed(OtlpSerialization, {
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
