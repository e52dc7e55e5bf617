import { Effect, Metric, MetricBoundaries } from "effect"
import { isEnded, type Run, type RunStep } from "../../schema/runs/Run.ts"

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
