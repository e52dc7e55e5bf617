import { Either, Option } from "effect"
import { describe, expect, it } from "vitest"
import { findPlatformServer } from "../../../../src/pipelines/upsert/step.ts"

const servers = [
  { uuid: "s-1", name: "localhost", ip: "10.0.0.1" },
  { uuid: "s-2", name: "here", ip: "Host.Docker.Internal" },
  { uuid: "s-3", name: "web", ip: "10.0.0.3" },
  { uuid: "s-4", name: "nowhere", ip: null },
  { uuid: "s-5", name: "blank", ip: "" }
]
const named = (name: string, all: typeof servers = servers) =>
  findPlatformServer(all, name, ["host.docker.internal"], "git.test")

describe("targetNamed", () => {
  it.each<[string, string, boolean, string | undefined]>([
    ["localhost", "s-1", true, "git.test"],
    ["here", "s-2", true, "git.test"],
    ["web", "s-3", false, "10.0.0.3"],
    ["nowhere", "s-4", false, undefined],
    ["blank", "s-5", false, undefined]
  ])("%s", (name, serverUuid, local, ip) => {
    expect(Either.getOrThrow(named(name))).toEqual({ serverUuid, local, ip: Option.fromNullable(ip) })
  })

  it("lists the names when there is no such server", () => {
    expect(Either.flip(named("Web"))).toEqual(
      Either.right(
        "The platform has no server \"Web\": there is \"localhost\", \"here\", \"web\", \"nowhere\", \"blank\""
      )
    )
  })

  it("says so when there is none at all", () => {
    expect(Either.flip(named("web", []))).toEqual(
      Either.right("The platform has no server \"web\": it has none at all")
    )
  })
})
