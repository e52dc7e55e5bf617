import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { buildReleaseManifest } from "../../../src/pipelines/deploy/deploy.ts"
import { planDeploy } from "../../../src/pipelines/deploy/preflight.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

it.scopedLive("a changed file starts no container of a service whose profile is not active", () =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    yield* plant(directory, {
      "compose.yml": `services:
  web: { image: web, volumes: ["./shared.conf:/c:ro"] }
  seed: { image: seed, profiles: [tools], volumes: ["./shared.conf:/c:ro", "./seed.sql:/s.sql:ro"] }
`,
      "shared.conf": "a",
      "seed.sql": "insert"
    })
    const { mounts } = buildReleaseManifest(yield* planDeploy(directory), "Ann", undefined)
    expect(mounts).toEqual([{ service: "web", path: "shared.conf" }])
  }).pipe(Effect.provide(Layer.provideMerge(Layer.merge(LocalFilesLive, settingsTest()), NodeContext.layer))))
