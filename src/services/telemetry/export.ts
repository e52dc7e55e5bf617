import * as OtlpMetrics from "@effect/opentelemetry/OtlpMetrics"
import { OtlpSerialization } from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import { HttpBody, HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import {
  Cause,
  Clock,
  Duration,
  Effect,
  ExecutionStrategy,
  Exit,
  FiberId,
  Layer,
  Option,
  Predicate,
  Redacted,
  Scope,
  type Tracer
} from "effect"
import { parseHeaderList } from "../../schema/basics.ts"
import { version } from "../../schema/session.ts"
import { isKnownStep, metricPrefix } from "../metrics.ts"
import { Post } from "../notify/Post.ts"
import { Instance } from "../runs/Runs.ts"

/** Makes an exported span; undefined for a span that is not exported. */
export type ExportSpan = (...span: Parameters<Tracer.Tracer["span"]>) => Tracer.Span | undefined

const warningPause = Duration.toMillis("10 minutes")

/**
 * Client that sends to a collector in the same way as notifications: redirects are not followed, and the timeout is ten
 * seconds. Logs one warning per outage, and at most one in ten minutes.
 */
const makeCollectorClient = (url: string): Effect.Effect<HttpClient.HttpClient, never, Post> =>
  Effect.map(Post, (post) => {
    const { host } = new URL(url)
    let warnedAt = Number.NEGATIVE_INFINITY
    let isAway = false
    const warn = (reason: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (isAway || now - warnedAt < warningPause) return Effect.void
        isAway = true
        warnedAt = now
        return Effect.logWarning(
          `Telemetry was not exported: ${host}: ${reason}. Runs are not affected, and later exports are tried. ` +
            "Check telemetry.otlp and telemetry.headers"
        )
      })
    const recovered = Effect.suspend(() => {
      if (!isAway) return Effect.void
      isAway = false
      return Effect.logInfo(`Telemetry is exported to ${host} again`)
    })
    return HttpClient.make((request, to) => {
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const headers = { ...request.headers, "user-agent": `Berth/${version}` }
      return post.send(Redacted.make(to.href), { headers, body }).pipe(
        Effect.tapError(({ message }) => warn(message)),
        Effect.zipLeft(recovered),
        Effect.map((status) => HttpClientResponse.fromWeb(request, new Response(null, { status }))),
        Effect.mapError(({ message }) =>
          new HttpClientError.RequestError({ request, reason: "Transport", description: message })
        )
      )
    })
  })

/**
 * Exported root spans: runs, and requests that change something. Reads are excluded, since the page polls every few
 * seconds.
 */
const root = /^(?:run\.[a-z-]+|http\.server (?:POST|PUT|PATCH|DELETE))$/
/** Span names from the code. Names of steps may come from users. */
const given = /^[A-Za-z][\w.-]{0,80}(?: [A-Z]{1,20}|\/v\d+\.execute)?$/
/** Attributes without paths, addresses, headers, output or names of variables. */
const harmless: ReadonlySet<string> = new Set([
  "http.request.method",
  "http.response.status_code",
  "http.route",
  "run.end",
  "run.id",
  "run.kind"
])

const safeName = (name: string): string => {
  const [, step] = /^step\.(.*)$/s.exec(name) ?? []
  if (step !== undefined) return isKnownStep(step) ? name : "step.other"
  return given.test(name) ? name : "other"
}

const tagOf = (error: unknown): string => {
  const tag = Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag)
    ? error._tag
    : error instanceof Error
    ? error.name
    : "Error"
  return /^[A-Za-z]\w{0,80}$/.test(tag) ? tag : "Error"
}

const failure = (name: string): Exit.Exit<never, Error> => {
  const error = new Error(name)
  error.name = name
  // The stack would contain paths of this machine.
  error.stack = ""
  return Exit.fail(error)
}

/** Exit of a span without messages, which may quote commands, servers and upstreams. */
const safeExit = (exit: Exit.Exit<unknown, unknown>, attributes: ReadonlyMap<string, unknown>) => {
  const end = attributes.get("run.end")
  if (Predicate.isString(end) && end !== "succeeded") return failure(end)
  if (Exit.isSuccess(exit)) return Exit.void
  return Cause.isInterruptedOnly(exit.cause) ? Exit.interrupt(FiberId.none) : failure(tagOf(Cause.squash(exit.cause)))
}

/** Makes exported spans, reduced to data that may leave this machine. */
export const makeExportSpan = (exporting: Tracer.Tracer): ExportSpan => {
  const exported = new WeakSet<Tracer.AnySpan>()
  return (name, parent, context, links, startTime, kind) => {
    // A parent in another process is specified by the caller.
    const above = Option.filter(parent, (span) => exported.has(span) || (root.test(name) && isRemote(span)))
    if (Option.isNone(above) && !root.test(name)) return undefined
    const sent = exporting.span(safeName(name), above, context, [], startTime, kind)
    const attributes = new Map<string, unknown>()
    let status: Tracer.SpanStatus = { _tag: "Started", startTime }
    const span: Tracer.Span = {
      _tag: "Span",
      name,
      spanId: sent.spanId,
      traceId: sent.traceId,
      parent,
      context,
      get status() {
        return status
      },
      attributes,
      links,
      sampled: true,
      kind,
      end: (endTime, exit) => {
        status = { _tag: "Ended", startTime, endTime, exit }
        sent.end(endTime, safeExit(exit, attributes))
      },
      attribute: (key, value) => {
        attributes.set(key, value)
        if (harmless.has(key)) sent.attribute(key, value)
      },
      // Dropped: log lines arrive as events.
      event: () => undefined,
      addLinks: () => undefined
    }
    exported.add(span)
    return span
  }
}

const isRemote = (span: Tracer.AnySpan) =>
  span._tag === "ExternalSpan" && /^[0-9a-f]{32}$/.test(span.traceId) && /^[0-9a-f]{16}$/.test(span.spanId)

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
interface ExporterOptions {
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
