import { Cause, Effect, HashMap, type Layer, Logger, Metric, MetricBoundaries, Predicate } from "effect"
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks"
import { isEnded, type Run, type RunStep } from "../schema/runs.ts"
import { escapeText } from "../schema/words.ts"

/** Metric that is read on demand. */
export interface Gauge {
  readonly name: string
  readonly help: string
  readonly value: number
}

const seconds = (nanoseconds: number) => Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0

/**
 * Makes a reader of the event loop delay since the previous reading; 0 at the first one. Measuring starts with the
 * first reading, because each measurement wakes the process.
 */
export const makeEventLoopDelay = (): Effect.Effect<ReadonlyArray<Gauge>> => {
  let histogram: IntervalHistogram | undefined
  return Effect.sync(() => {
    if (histogram === undefined) {
      histogram = monitorEventLoopDelay({ resolution: 20 })
      histogram.enable()
    }
    const measured = histogram.count > 0
    const gauge = (part: string, help: string, value: number): Gauge => ({
      name: `berth_event_loop_delay_${part}_seconds`,
      help: `${help} delay of the event loop since the metrics were read before.`,
      value: measured ? seconds(value) : 0
    })
    const gauges = [
      gauge("mean", "Mean", histogram.mean),
      gauge("p99", "99th percentile of the", histogram.percentile(99)),
      gauge("max", "Longest", histogram.max)
    ]
    histogram.reset()
    return gauges
  })
}

/** Prefix of all metric names. */
export const metricPrefix = "berth_"

const runs = Metric.counter("berth_runs_total", {
  description: "Runs that this process has ended, by kind and end.",
  incremental: true
})
const stepSeconds = Metric.histogram(
  "berth_step_duration_seconds",
  MetricBoundaries.fromIterable([0.1, 0.5, 1, 5, 15, 60, 300, 1_800]),
  "Duration of the steps of runs, by kind of run and step."
)
const sentBytes = Metric.counter("berth_deploy_sent_bytes_total", {
  description: "Bytes that deploys have sent to servers.",
  incremental: true
})
const savedBytes = Metric.counter("berth_deploy_saved_bytes_total", {
  description: "Bytes that deploys did not have to send, since the server had them.",
  incremental: true
})

/** Number of open SSH connections. */
export const openConnections = Metric.gauge("berth_ssh_connections", { description: "SSH connections that are open." })

/** Steps that get their own series. Other names may come from users, and every series stays in memory. */
const knownSteps: ReadonlySet<string> = new Set(
  ("preflight beforeDeploy pull upload load beforeStart bridge switch start health return release rollback afterDeploy " +
    "build stop restart remove validate check server config env sync deploy route webhook changelog verify").split(" ")
)

/** True for the names of steps of Berth's own programs. */
export const isKnownStep = (step: string): boolean => knownSteps.has(step)

/** Counts a run that has ended. */
export const countEnd = ({ kind, state }: Pick<Run, "kind" | "state">): Effect.Effect<void> =>
  Metric.increment(Metric.tagged(Metric.tagged(runs, "kind", kind), "end", state))

/** Counts a run that has ended, and the time of its steps. */
export const countRun = ({ kind, state, steps }: Run): Effect.Effect<void> => {
  if (!isEnded(state)) return Effect.void
  const countStep = ({ endedAt, startedAt, step }: RunStep) =>
    endedAt === null ? Effect.void : Metric.update(
      stepSeconds.pipe(Metric.tagged("kind", kind), Metric.tagged("step", isKnownStep(step) ? step : "other")),
      Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) / 1_000
    )
  return Effect.zipRight(countEnd({ kind, state }), Effect.forEach(steps, countStep, { discard: true }))
}

/** Counts the bytes that a deploy has sent, and those that it saved of the total. */
export const countSent = (sent: number, all: number): Effect.Effect<void> =>
  Effect.zipRight(Metric.incrementBy(sentBytes, sent), Metric.incrementBy(savedBytes, Math.max(0, all - sent)))

const safe = (value: unknown): unknown => Predicate.isString(value) ? escapeText(value) : value

/** Escapes a cause line by line, so that only its real line breaks remain. */
const linesOf = (cause: Cause.Cause<unknown>): ReadonlyArray<string> =>
  Cause.isEmpty(cause)
    ? []
    : Cause.pretty(cause, { renderErrorCause: true }).split("\n").map((line) => escapeText(line))

/**
 * Logger for terminals that escapes control characters: untrusted names and messages can neither forge a line nor
 * control the terminal.
 */
const safeLogger: Logger.Logger<unknown, void> = Logger.mapInputOptions(
  Logger.prettyLoggerDefault,
  (options: Logger.Logger.Options<unknown>) => {
    const message = Array.isArray(options.message) ? options.message : [options.message]
    return {
      ...options,
      message: [...message.map(safe), ...linesOf(options.cause)],
      cause: Cause.empty,
      annotations: HashMap.map(options.annotations, safe)
    }
  }
)

/** Replaces the default logger with `safeLogger`. */
export const SafeLoggerLive: Layer.Layer<never> = Logger.replace(Logger.defaultLogger, safeLogger)
