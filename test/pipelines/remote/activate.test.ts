import { describe, expect, it } from "@effect/vitest"
import { loadScript } from "../../../src/pipelines/remote/activation/load.ts"
import { prepareScript } from "../../../src/pipelines/remote/activation/prepare.ts"
import { restoreScript } from "../../../src/pipelines/remote/activation/restore.ts"
import { startScript } from "../../../src/pipelines/remote/activation/start.ts"
import { composeFunctions, imageFunctions } from "../../../src/pipelines/remote/docker.ts"
import { lookFunction } from "../../../src/pipelines/remote/stackHealth.ts"

const parts = [
  `${composeFunctions}${imageFunctions}${lookFunction}`,
  prepareScript,
  restoreScript,
  loadScript,
  startScript
]
const assigned = (script: string) =>
  new Set([...script.matchAll(/(?<![\w$"'-])([a-z_]+)=/g)].map(([, name = ""]) => name))

describe("the script of an activation", () => {
  it("has no variable in two of its parts but those that carry something over, or nothing for long", () => {
    const all = parts.map(assigned)
    const often = [...new Set(all.flatMap((names) => [...names]))].filter((name) =>
      all.filter((names) => names.has(name)).length > 1
    )
    expect(often.toSorted()).toEqual(["compose_kind", "compose_version", "ids", "is", "old", "said"])
  })
})
