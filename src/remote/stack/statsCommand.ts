import type { ContainerStats } from "../../schema/servers/Stats.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { parseFigure, parseSizePair } from "./figures.ts"
import { script } from "./stats.sh.ts"

/** Reads the usage of each running container from Docker. */
export const statsCommand = (sudo: boolean): RemoteCommand => ({
  what: "reading the containers' usage",
  script,
  args: [],
  sudo
})

/** Parses the answer of `statsCommand`. Leaves out a container that ended between the two queries. */
export const parseStats = (output: string): ReadonlyArray<ContainerStats> => {
  const rows = output.split("\n").map((line) => line.split("|"))
  const usage = new Map(rows.flatMap(([kind, id = "", ...figures]) => kind === "usage" ? [[id, figures]] : []))
  return rows.flatMap(([kind, id = "", restarts = "", startedAt = "", service = "", ...name]) => {
    const figures = usage.get(id)
    if (kind !== "container" || figures === undefined) return []
    const [cpu = "", memory = "", network = ""] = figures
    const [memoryBytes, memoryLimitBytes] = parseSizePair(memory)
    const [received, sent] = parseSizePair(network)
    return [{
      name: name.join("|").replace(/^\//, ""),
      service: service === "<no value>" ? "" : service,
      cpuPercent: parseFigure(cpu),
      memoryBytes,
      memoryLimitBytes,
      networkBytes: received + sent,
      restarts: Math.trunc(parseFigure(restarts)),
      startedAt
    }]
  })
}
