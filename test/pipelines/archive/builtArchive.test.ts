import { describe, expect, it } from "@effect/vitest"
import { nameBuiltImages } from "../../../src/pipelines/archive/builtArchive.ts"

const [web, tool] = ["a".repeat(16), "b".repeat(16)]
const sections = [{ digest: web, services: ["web", "worker"] }, { digest: tool, services: ["tool"] }]
const imageOf = (service: string) => service === "tool" ? "tools" : `shop_${service}`
const built = (digest: string) => ({ repoTags: [`berth/build:1a2b-${digest}`] })
const named = (images: ReadonlyArray<{ readonly repoTags: ReadonlyArray<string> }>) =>
  nameBuiltImages({ images }, sections, imageOf).images.map(({ repoTags }) => repoTags)

describe("built images", () => {
  it("have the names of their services, in the order of the compose file", () => {
    const expected = [["shop_web:latest", "shop_worker:latest"], ["tools:latest"]]
    expect(named([built(web), built(tool)])).toEqual(expected)
    expect(named([built(tool), built(web)])).toEqual(expected)
  })

  it("that no section names any more are left out, and others keep their names", () => {
    expect(named([built("c".repeat(16)), { repoTags: ["other:1"] }])).toEqual([["other:1"]])
  })
})
