import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { checkUnkeptDatabases, listUnkeptDatabases } from "../../../src/pipelines/backups/databases.ts"
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

it.each([
  ["postgres:16", "postgres"],
  ["docker.io/library/mysql:8.4@sha256:0", "mysql"],
  ["registry.example.com:5000/team/mariadb", "mariadb"],
  ["timescale/timescaledb:latest-pg16", "postgres"],
  ["mongo", "mongo"],
  ["redis:7", undefined],
  ["acme/postgres-exporter", undefined]
])("the image %s is a database of the kind %s", (image, kind) => {
  const service = { name: "db", image, runs: true }
  expect(listUnkeptDatabases([service], undefined)).toEqual(kind === undefined ? [] : [{ service: "db", kind }])
  const kept = [{ kind: "postgres", service: "db" } as const, { volume: "data", stop: ["db"] }]
  for (const item of kept) expect(listUnkeptDatabases([service], { items: { item } })).toEqual([])
  expect(listUnkeptDatabases([{ ...service, runs: false }], undefined)).toEqual([])
})
