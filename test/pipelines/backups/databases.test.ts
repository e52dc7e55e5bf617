import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { checkUnkeptDatabases } from "../../../src/pipelines/backups/databases.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

it.scopedLive("the projects with a database and no backup of it are named, in each environment", () =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    const add = (name: string, compose: string, config: object) => {
      const directory = join(root, name)
      mkdirSync(directory)
      writeFileSync(join(directory, "compose.yml"), compose)
      writeFileSync(join(directory, "container.json"), JSON.stringify(config))
    }
    const stack = "services:\n  web:\n    image: shop\n  db:\n    image: postgres:16\n"
    const items = { database: { kind: "postgres", service: "db" } }
    add("kept", stack, { backups: { items } })
    add("plain", "services:\n  web:\n    image: shop\n", {})
    add("broken", "services: [", {})
    const check = checkUnkeptDatabases.pipe(
      Effect.provide(settingsTest({ "projects.root": root })),
      Effect.provide(Layer.merge(LocalFilesLive, NodeContext.layer)),
      Effect.provide(NodeContext.layer)
    )
    expect(yield* check).toEqual([])
    add("shop", stack, {})
    add("staged", stack, {
      backups: { items },
      environments: { staging: { backups: { items: { files: { volume: "f" } } } } }
    })
    expect(yield* check).toMatchObject([{
      name: "backups",
      ok: true,
      detail: `no backup keeps the databases of ${join(root, "shop")}: db (postgres); ${
        join(root, "staged")
      }: db (postgres)`
    }])
  }))
