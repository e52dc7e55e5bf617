import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import { findExposedPort } from "../../../src/pipelines/init.ts"

describe("exposedPort", () => {
  it.each([
    ["FROM node\nEXPOSE 8080\n", 8080],
    ["FROM node\r\nexpose 8080/tcp 9090\r\n", 8080],
    ["FROM a AS build\nEXPOSE 1111\nFROM b\nEXPOSE 2222\n", 2222],
    ["FROM a AS build\nEXPOSE 1111\nFROM b\n", 1111],
    ["FROM a\nARG PORT=4000\nENV OTHER=1 HTTP=\"${PORT}\"\nEXPOSE $HTTP\n", 4000],
    ["FROM a\nENV PORT 5000\nEXPOSE ${PORT}/tcp\n", 5000],
    ["FROM a\nEXPOSE ${PORT:-6000}\n", 6000],
    ["FROM a\nEXPOSE \\\n  7000\n", 7000],
    ["FROM a\nEXPOSE 53/udp 8000-8010\n", 8000]
  ])("%j exposes %d", (text, port) => {
    expect(findExposedPort(text)).toEqual(Option.some(port))
  })

  it.each(["FROM a\n", "# EXPOSE 80\n", "FROM a\nEXPOSE $NONE\n", "FROM a\nEXPOSE 53/udp\n", "FROM a\nEXPOSE 99999\n"])(
    "%j exposes nothing",
    (text) => {
      expect(findExposedPort(text)).toEqual(Option.none())
    }
  )
})
