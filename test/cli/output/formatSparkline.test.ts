import { expect, it } from "@effect/vitest"
import { formatSparkline } from "../../../src/cli/output.ts"

it.each<readonly [ReadonlyArray<number | undefined>, string]>([
  [[], ""],
  [[0, 0], "▁▁"],
  [[0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"],
  [[undefined, 100, undefined, 50], "·█·▅"],
  [[undefined], "·"],
  [[1e12, -1], "█▁"]
])("draws %j as %s", (values, line) => {
  expect(formatSparkline(values)).toBe(line)
})
