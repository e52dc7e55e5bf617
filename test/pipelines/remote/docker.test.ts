import { describe, expect, it } from "vitest"
import { composeFunctions, imageFunctions } from "../../../src/pipelines/remote/docker.ts"

describe("the shell functions for Docker", () => {
  it("are each defined once: of two the shell takes the last one, and a server is sent both", () => {
    const names = `${composeFunctions}${imageFunctions}`.match(/^\w+(?=\(\) )/gm) ?? []
    expect(names).toEqual(["known_compose", "find_compose", "compose", "name_ids"])
  })
})
