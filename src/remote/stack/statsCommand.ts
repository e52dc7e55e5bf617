import type { ContainerStats } from "../../schema/servers/Stats.ts"
import type { RemoteCommand } from "../../services/ssh/RemoteCommand.ts"
import { script } from "./stats.sh.ts"

/** Asks Docker what each running container uses. */
export const statsCommand = (sudo: boolean): RemoteCommand => ({
  what: "reading the containers' usage",
  script,
  args: [],
  sudo
})

const units: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ...["k", "M", "G", "T", "P"].flatMap((prefix, index): ReadonlyArray<readonly [string, number]> => [
    [`${prefix}B`, 1000 ** (index + 1)],
    [`${prefix.toUpperCase()}iB`, 1024 ** (index + 1)]
  ])
])

/** Bytes of a size as Docker writes it, `1.5MiB` or `12kB`; 0 for anything else. */
const bytesOf = (text: string): number => {
  const [, number = "", unit = ""] = /^(\d{1,15}(?:\.\d{1,9})?)([A-Za-z]{1,3})$/.exec(text.trim()) ?? []
  return Math.round(Number(number) * (units.get(unit) ?? 0))
}

const pairOf = (text: string): readonly [number, number] => {
  const [one = "", other = ""] = text.split(" / ")
  return [bytesOf(one), bytesOf(other)]
}

const numberOf = (text: string): number => {
  const number = Number(text.replace("%", ""))
  return Number.isFinite(number) ? number : 0
}

/** Reads the answer of `statsCommand`. A container that ended between the two looks is left out. */
export const parseStats = (output: string): ReadonlyArray<ContainerStats> => {
  const rows = output.split("\n").map((line) => line.split("|"))
  const usage = new Map(rows.flatMap(([kind, id = "", ...figures]) => kind === "usage" ? [[id, figures]] : []))
  return rows.flatMap(([kind, id = "", restarts = "", startedAt = "", service = "", ...name]) => {
    const figures = usage.get(id)
    if (kind !== "container" || figures === undefined) return []
    const [cpu = "", memory = "", network = ""] = figures
    const [memoryBytes, memoryLimitBytes] = pairOf(memory)
    const [received, sent] = pairOf(network)
    return [{
      name: name.join("|").replace(/^\//, ""),
      service: service === "<no value>" ? "" : service,
      cpuPercent: numberOf(cpu),
      memoryBytes,
      memoryLimitBytes,
      networkBytes: received + sent,
      restarts: Math.trunc(numberOf(restarts)),
      startedAt
    }]
  })
}
