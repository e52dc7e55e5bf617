import { expect, it } from "vitest"
import { buildChartPath } from "../../../src/web/usage/Usage.tsx"

const frame = { from: 0, to: 300_000, most: 10 }
const series = (...values: ReadonlyArray<readonly [seconds: number, value: number | undefined]>) =>
  values.map(([seconds, value]) => ({ at: seconds * 1_000, value }))

it("draws a line through neighbours, up to the highest number", () => {
  expect(buildChartPath(series([0, 0], [15, 10], [30, 5]), frame)).toBe("M0.0 58.0L15.0 2.0L30.0 30.0")
  expect(buildChartPath(series([0, 20], [15, 0]), frame)).toBe("M0.0 2.0L15.0 58.0")
})

it("leaves a gap where samples are missing, and draws a lone one as a dot", () => {
  expect(buildChartPath(series([0, 0], [15, undefined], [30, 0], [75, 0], [90, 0]), frame)).toBe(
    "M0.0 58.0L30.0 58.0M75.0 58.0L90.0 58.0"
  )
  expect(buildChartPath(series([60, 5]), frame)).toBe("M60.0 30.0h0.1")
})

it("draws nothing of what is outside of its time, and survives a frame without numbers", () => {
  expect(buildChartPath(series([-15, 1], [301, 1]), frame)).toBe("")
  expect(buildChartPath([], { from: Number.NaN, to: Number.NaN, most: 0 })).toBe("")
  expect(buildChartPath(series([0, 0]), { ...frame, most: 0 })).toBe("M0.0 58.0h0.1")
})
