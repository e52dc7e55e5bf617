import type { ContainerSample, StatsPoint } from "../schema/usage.ts"
import { makeLineLimit, type RemoteCommand } from "../services/ssh/Ssh.ts"
import { parseDisks, parseUsage } from "./server.ts"
import { script as sampleScript } from "./server/sample.sh.ts"
import { parseContainerName, parseFigure, parseSizePair } from "./stack.ts"

/** Exit code of `sampleCommand` if Docker cannot be used. */
export const sampleExit = { noDocker: 3 } as const

/** Reads the usage of a server and its running containers in one command. */
export const sampleCommand = (sudo: boolean): RemoteCommand => ({
  what: "sampling the usage",
  script: sampleScript,
  args: [],
  sudo,
  // Small, because an hour of these answers is kept.
  limit: makeLineLimit(1, 2_000)
})

const longestName = 255

const mostContainers = 500

const sumOf = (pair: string) => {
  const [one, other] = parseSizePair(pair)
  return one + other
}

const containersIn = (output: string): ReadonlyArray<ContainerSample> => {
  const rows = output.split("\n").map((line) => line.split("|"))
  const usage = new Map(rows.flatMap(([kind, id = "", ...figures]) => kind === "usage" ? [[id, figures]] : []))
  return rows.flatMap(([kind, id = "", service = "", ...names]) => {
    const figures = usage.get(id)
    if (kind !== "container" || figures === undefined) return []
    const [cpu = "", memory = "", network = "", block = ""] = figures
    return [{
      name: parseContainerName(names.join("|")).slice(0, longestName),
      service: service === "<no value>" ? "" : service.slice(0, longestName),
      cpuPercent: parseFigure(cpu),
      memoryBytes: parseSizePair(memory)[0],
      networkBytes: sumOf(network),
      blockBytes: sumOf(block)
    }]
  }).slice(0, mostContainers)
}

/** Parses the answer of `sampleCommand`, even if Docker cannot be used. */
export const parseSample = (output: string): Pick<StatsPoint, "containers" | "disks" | "load" | "memory"> => ({
  ...parseUsage(output),
  disks: parseDisks(output),
  containers: containersIn(output)
})
