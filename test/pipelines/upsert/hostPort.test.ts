import { describe, expect, it } from "vitest"
import { decideHostPortAction, HostPortAction } from "../../../src/pipelines/upsert/hostPort.ts"
import type { AppEnv } from "../../../src/schema/applications.ts"
import { env } from "../applications/plans.ts"

const stale = env("HOST_PORT", "2999")
const empty = env("HOST_PORT", null)

describe("hostPortAction", () => {
  it.each<[string, ReadonlyArray<AppEnv>, HostPortAction]>([
    ["no variables", [], HostPortAction.Create()],
    ["other variables", [env("PORT", "3000"), env("host_port", "3000")], HostPortAction.Create()],
    ["the port", [env("HOST_PORT", "3000")], HostPortAction.Keep()],
    ["another port", [stale], HostPortAction.Change({ env: stale, old: "2999" })],
    ["no value", [empty], HostPortAction.Change({ env: empty, old: null })],
    ["a hidden value", [env("HOST_PORT", { hidden: "secret" })], HostPortAction.Stop({ reason: "secret" })]
  ])("%s", (_, envs, expected) => {
    expect(decideHostPortAction(envs, 3000)).toEqual(expected)
  })
})
