import { describe, expect, it } from "vitest"
import { parseInspect } from "../../../src/remote/stack.ts"

const started = "2026-01-02T03:04:05.250000000Z"
const line = `container\tc1|/shop_web_1|web|no|2|{"Status":"running","ExitCode":0,"StartedAt":"${started}"}`
const upAt = (now: string) => parseInspect(`now\t${now}\n${line}\n`)[0]?.upMillis

describe("parseInspect", () => {
  it.each([
    ["with nanoseconds", "2026-01-02T03:04:06.750123456Z", 1500],
    ["of a date without them", "2026-01-02T03:04:06.%NZ", 750],
    ["in whole seconds", "2026-01-02T03:04:06Z", 750],
    ["before the start", "2026-01-02T03:04:04Z", 0],
    ["that is missing", "", 0]
  ])("tells for how long a container is up by a clock %s", (_, now, up) => {
    expect(upAt(now)).toBe(up)
  })

  it("reads the rest of a container, and passes over other lines", () => {
    expect(parseInspect(`loaded\tx\n${line}\n`)).toEqual([{
      id: "c1",
      name: "shop_web_1",
      service: "web",
      status: "running",
      health: "",
      exitCode: 0,
      restartPolicy: "no",
      restarts: 2,
      upMillis: 0
    }])
    expect(parseInspect("container\tc1|/x|web|no|0|{broken\n")).toEqual([])
  })
})
