import { expect, it } from "@effect/vitest"
import { Option } from "effect"
import { holdToPlan } from "../../../src/cli/reports.ts"

it("a deploy is held to the plan that somebody has read", () => {
  const plan = { planHash: "confirmed" }
  expect(holdToPlan({ planHash: Option.none(), yes: false }, plan)).toEqual({ planHash: "confirmed" })
  expect(holdToPlan({ planHash: Option.none(), yes: true }, plan)).toEqual({})
  expect(holdToPlan({ planHash: Option.some("reviewed"), yes: true }, plan)).toEqual({ planHash: "reviewed" })
})
