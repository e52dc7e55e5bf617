import { describe, expect, it } from "@effect/vitest"
import {
  formatEnvLines,
  mergeSecrets,
  readSecrets,
  readVariables,
  withoutSecrets
} from "../../../../src/pipelines/secrets/declaredSecrets.ts"
import { awkwardValues, printable } from "../../../fixtures/awkwardValues.ts"

const variables = new Map(awkwardValues.map((value, index) => [`V${index}`, value]))

describe("the env file of a deploy", () => {
  it("is read back by Berth as it was written", () => {
    expect(readVariables(formatEnvLines(variables).join("\n"))).toEqual(variables)
    const merged = mergeSecrets("# Mine\nA=1\nV0=old", variables)
    expect(readSecrets(merged)).toEqual(variables)
    expect(withoutSecrets(merged)).toBe("# Mine\nA=1\nV0=old\n")
    expect(readVariables(merged).get("V0")).toBe(printable)
    expect(mergeSecrets("A=1", new Map())).toBe("A=1")
    expect(readSecrets("A=1")).toEqual(new Map())
    expect(withoutSecrets(mergeSecrets("", variables))).toBe("")
  })

  it("has quoting variables only where a value needs them", () => {
    expect(formatEnvLines(new Map([["A", "pa$$word"], ["B", "two words"]]))).toEqual(["A='pa$$word'", "B='two words'"])
    expect(formatEnvLines(new Map([["A", "'$'"]]))[0]).toBe("BERTH_DOLLAR='$'")
  })
})
