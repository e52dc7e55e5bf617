import { describe, expect, it } from "vitest"
import { listEnvFileNames } from "../../../src/pipelines/projects/listEnvFileNames.ts"

const file = (name: string) => ({ name, path: `/p/${name}`, size: 1, mode: "600" as const })
const plan = { files: ["compose.yml", ".env", "conf/b.env"].map(file), envFiles: [".env"] }

describe("envFileNames", () => {
  it("removes what an earlier deploy brought and the project has no longer, in whatever role", () => {
    expect(listEnvFileNames(plan, { deployed: [".env", "a.env", "conf/b.env"] })).toEqual({
      brought: [".env"],
      gone: ["a.env"]
    })
  })

  it("never removes what is not a deploy's own", () => {
    const deployed = ["../x", "/etc/passwd", "data/x", "data", ".berth/lock", "a//b", ""]
    expect(listEnvFileNames(plan, { deployed }).gone).toEqual([])
  })

  it("leaves it where there are more than fit", () => {
    const many = Array.from({ length: 101 }, (_, at) => `${at}.env`)
    expect(listEnvFileNames({ ...plan, envFiles: many }, { deployed: many })).toEqual({ brought: [], gone: [] })
  })
})
