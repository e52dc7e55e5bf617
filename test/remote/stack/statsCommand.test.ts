import { describe, expect, it } from "@effect/vitest"
import { parseStats } from "../../../src/remote/stack.ts"

const id = "a".repeat(64)

describe("parseStats", () => {
  it("reads Docker's figures in bytes", () => {
    const output = `usage|${id}|1.50%|1.5MiB / 2GiB|1.2kB / 3MB
container|${id}|2|2026-01-02T03:04:05.6Z|web|/hello-web-1
`
    expect(parseStats(output)).toEqual([{
      name: "hello-web-1",
      service: "web",
      cpuPercent: 1.5,
      memoryBytes: 1.5 * 1024 * 1024,
      memoryLimitBytes: 2 * 1024 ** 3,
      networkBytes: 3_001_200,
      restarts: 2,
      startedAt: "2026-01-02T03:04:05.6Z"
    }])
  })

  it("leaves out what ended meanwhile, and takes a figure that it does not know for 0", () => {
    const other = "b".repeat(64)
    const output = `usage|${id}|--|-- / --|--
usage|${other}|0.00%|0B / 0B|0B / 0B
container|${id}|0|2026-01-02T03:04:05Z||/lone|some
container|${"c".repeat(64)}|0|2026-01-02T03:04:05Z||/gone
`
    expect(parseStats(output)).toMatchObject([{
      name: "lone|some",
      service: "",
      cpuPercent: 0,
      memoryBytes: 0,
      networkBytes: 0
    }])
  })
})
