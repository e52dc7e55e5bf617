import { Clock, Effect, Option } from "effect"
import type { ContainerStats } from "../../../schema/servers/Stats.ts"
import { keptMinutes, type StatsHistory } from "../../../schema/StatsHistory.ts"
import { buildContainerSeries, computeMeans, type SeriesPoint, summarize } from "../../../schema/usageSeries.ts"
import { formatBytes } from "../../../schema/words/formatBytes.ts"
import { showAnswer } from "../../connection/withService.ts"
import { defineServiceCommand } from "../../options/defineServiceCommand.ts"
import { findStoredServer } from "../../options/findStoredServer.ts"
import { argument, integerOption } from "../../parse/parameters.ts"
import { formatSparkline } from "../../terminal/formatSparkline.ts"
import { printTable } from "../../terminal/printTable.ts"
import { formatDuration } from "../../terminal/quantities.ts"
import { escapeInline } from "../../terminal/safeText.ts"
import { Screen } from "../../terminal/Screen.ts"

const lineLength = 20
const none = "No container runs."

const percent = (value: number) => `${value.toFixed(1)}%`

const showNow = (containers: ReadonlyArray<ContainerStats>) =>
  printTable(
    none,
    ["CONTAINER", "SERVICE", "CPU", "MEMORY", "NETWORK", "RESTARTS"],
    containers.map(({ cpuPercent, memoryBytes, memoryLimitBytes, name, networkBytes, restarts, service }) => [
      name,
      service,
      percent(cpuPercent),
      `${formatBytes(memoryBytes)} of ${formatBytes(memoryLimitBytes)}`,
      formatBytes(networkBytes),
      String(restarts)
    ])
  )

/** Last, mean and highest value of a series as cells. */
const numbersOf = (series: ReadonlyArray<SeriesPoint>, words: (value: number) => string) => {
  const { last, mean, most } = summarize(series) ?? {}
  return [last, mean, most].map((value) => value === undefined ? "" : words(value))
}

const showHistory = (minutes: number) => ({ points }: StatsHistory) =>
  Effect.gen(function*() {
    const { out, say } = yield* Screen
    const to = yield* Clock.currentTimeMillis
    const from = to - minutes * 60_000
    const lineOf = (series: ReadonlyArray<SeriesPoint>, words: (value: number) => string) => {
      const [last = ""] = numbersOf(series, words)
      return [formatSparkline(computeMeans(series, { from, to, parts: lineLength })), last]
    }
    const cells = out.hasColor ? lineOf : numbersOf
    yield* printTable(
      none,
      [
        "CONTAINER",
        "SERVICE",
        ...out.hasColor ? ["CPU", "NOW", "MEMORY", "NOW"] : ["CPU", "MEAN", "MOST", "MEMORY", "MEAN", "MOST"]
      ],
      buildContainerSeries(points).map(({ cpuPercent, memoryBytes, name, service }) => [
        name,
        service,
        ...cells(cpuPercent, percent),
        ...cells(memoryBytes, formatBytes)
      ])
    )
    const [first] = points
    const error = points.at(-1)?.error
    if (error !== undefined) yield* say(`✗ The last sample failed: ${escapeInline(error)}`)
    if (first !== undefined && Date.parse(first.at) > from + 60_000) {
      yield* say(
        `Sampled for ${
          formatDuration(to - Date.parse(first.at))
        }: it begins when somebody looks, unless stats.sample is always.`
      )
    }
  })

export const serverStatsCommand = defineServiceCommand(
  {
    name: "stats",
    summary: "Show what the containers of a server use, now or over time.",
    examples: ["berth server stats main", "berth server stats main --minutes 30"]
  },
  {
    server: argument("server", "The id or the name of a stored server; berth server list names them.", "server"),
    minutes: integerOption(
      "minutes",
      "Show CPU and memory of the last minutes, as lines where the terminal has colours.",
      {
        value: "number",
        between: [1, keptMinutes]
      }
    )
  },
  (input) =>
    Effect.flatMap(findStoredServer(input.server), ({ server: { id } }) =>
      Option.match(input.minutes, {
        onNone: () =>
          showAnswer(input, (api) => api.serverStats({ path: { id } }), ({ containers }) => showNow(containers)),
        onSome: (minutes) =>
          showAnswer(input, (api) => api.statsHistory({ path: { id }, urlParams: { minutes } }), showHistory(minutes))
      }))
)
