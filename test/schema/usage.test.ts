import { describe, expect, it } from "@effect/vitest"
import {
  buildContainerSeries,
  buildSeries,
  computeMeans,
  type StatsPoint,
  summarize,
  sumSeries
} from "../../src/schema/usage.ts"

const container = (name: string, cpuPercent: number) => ({
  name,
  service: name,
  cpuPercent,
  memoryBytes: cpuPercent * 10,
  networkBytes: 0,
  blockBytes: 0
})
const point = (seconds: number, ...containers: StatsPoint["containers"]): StatsPoint => ({
  at: new Date(seconds * 1_000).toISOString(),
  disks: [],
  containers
})
const points = [point(0, container("old", 5)), point(15), point(30, container("web", 3), container("db", 1))]
const at = (...values: ReadonlyArray<number | undefined>) =>
  values.map((value, index) => ({ at: index * 15_000, value }))

describe("the series of a history", () => {
  it("have one number a point and container, those that run first", () => {
    expect(buildContainerSeries(points)).toEqual([
      {
        name: "web",
        service: "web",
        cpuPercent: at(undefined, undefined, 3),
        memoryBytes: at(undefined, undefined, 30)
      },
      { name: "db", service: "db", cpuPercent: at(undefined, undefined, 1), memoryBytes: at(undefined, undefined, 10) },
      {
        name: "old",
        service: "old",
        cpuPercent: at(5, undefined, undefined),
        memoryBytes: at(50, undefined, undefined)
      }
    ])
    expect(buildSeries(points, ({ containers }) => containers.length)).toEqual(at(1, 0, 2))
    expect(buildContainerSeries([])).toEqual([])
  })

  it("are summed point by point", () => {
    expect(sumSeries([at(1, undefined, 2), at(3, undefined, undefined)])).toEqual(at(4, undefined, 2))
    expect(sumSeries([])).toEqual([])
  })

  it("are summed up", () => {
    expect(summarize(at(2, undefined, 4))).toEqual({ last: 4, mean: 3, most: 4 })
    expect(summarize(at(6, 0, undefined))).toEqual({ last: 0, mean: 3, most: 6 })
    expect(summarize(at(undefined))).toBeUndefined()
  })

  it("have means over parts of a time", () => {
    expect(computeMeans(at(2, 4, undefined, 8, 9), { from: 0, to: 60_000, parts: 2 })).toEqual([3, 8.5])
    expect(computeMeans(at(2, 4), { from: 60_000, to: 120_000, parts: 3 })).toEqual([undefined, undefined, undefined])
  })
})
