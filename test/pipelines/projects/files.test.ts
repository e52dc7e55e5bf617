import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { join } from "node:path"
import { readContainerConfig, readProjectText } from "../../../src/pipelines/projects/files.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { plant, type Planted, temporaryDirectory } from "../../layers/temporary.ts"

const local = Layer.provideMerge(LocalFilesLive, NodeContext.layer)

/** A project with these files, beside a directory that is not its own. */
const project = (tree: { readonly [path: string]: Planted }) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    yield* plant(root, { "outside/env": "A=1", "outside/container.json": "{\"allowLinks\": true}" })
    yield* plant(join(root, "shop"), tree)
    return join(root, "shop")
  })

describe("the text of a project's file", () => {
  it.scoped("is not that of a link out of the project, which is named", () =>
    Effect.gen(function*() {
      const directory = yield* project({ ".env": { link: "../outside/env" } })
      const error = yield* Effect.flip(readProjectText(directory, ".env"))
      expect(error).toMatchObject({ _tag: "ProjectFileInvalid", status: 422 })
      expect(error.message).toMatch(/shop\/\.env is a link that leads out of the project, to .*\/outside\/env\. Copy/)
      expect(error.message).toContain("\"allowLinks\": true in container.json")
    }).pipe(Effect.provide(local)))

  it.scoped("is that of a link within it, and of any where container.json allows it", () =>
    Effect.gen(function*() {
      const within = yield* project({ ".env": { link: "shared.env" }, "shared.env": "B=1" })
      expect(yield* readProjectText(within, ".env")).toEqual(Option.some("B=1"))
      const allowed = yield* project({
        ".env": { link: "../outside/env" },
        "container.json": "{\"allowLinks\": true}"
      })
      expect(yield* readProjectText(allowed, ".env")).toEqual(Option.some("A=1"))
    }).pipe(Effect.provide(local)))

  it.scoped("cannot be allowed by a container.json that leads out itself", () =>
    Effect.gen(function*() {
      const directory = yield* project({
        ".env": { link: "../outside/env" },
        "container.json": { link: "../outside/container.json" }
      })
      expect((yield* Effect.flip(readContainerConfig(directory))).message).toMatch(
        /Copy what it leads to into the project$/
      )
      expect((yield* Effect.flip(readProjectText(directory, ".env"))).message).toContain("leads out of the project")
    }).pipe(Effect.provide(local)))
})
