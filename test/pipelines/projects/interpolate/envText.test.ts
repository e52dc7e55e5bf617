import { describe, expect, it } from "@effect/vitest"
import { parseEnv, resolveEnvValues } from "../../../../src/pipelines/projects/interpolate.ts"

const valuesOf = (text: string) => Object.fromEntries(resolveEnvValues(parseEnv(text)).values)

describe("parseEnv", () => {
  it("reads plain, exported, quoted and commented lines, whatever the line ends", () => {
    expect(
      valuesOf("A=1\r\nexport B=two words \r\n# C=3\r\nD='x # y'\r\nE=\"q\\n\\\"r\\\"\" # said\r\nF=z # tail\r\nG=\r\n")
    )
      .toEqual({ A: "1", B: "two words", D: "x # y", E: "q\n\"r\"", F: "z", G: "" })
  })

  it("takes the last line of a key", () => {
    expect(valuesOf("A=1\nA=2\n")).toEqual({ A: "2" })
  })

  it("puts earlier variables in, but not between single quotes or after a backslash", () => {
    expect(valuesOf("A=1\nB=${A}$A\nC='$A'\nD=\"\\$A\"\n")).toEqual({ A: "1", B: "11", C: "$A", D: "$A" })
  })

  it("reads a quoted value over several lines", () => {
    expect(valuesOf("KEY=\"-----BEGIN\nabc\n-----END\"\nB=2\n")).toEqual({ KEY: "-----BEGIN\nabc\n-----END", B: "2" })
  })
})
