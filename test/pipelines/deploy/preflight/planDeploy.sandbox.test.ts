import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { planDeploy } from "../../../../src/pipelines/deploy/preflight.ts"
import { LocalFilesLive } from "../../../../src/services/local/LocalFiles.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"
import { plant, temporaryDirectory } from "../../../layers/temporary.ts"

const compose = `services:
  web: { image: web, volumes: ["uploads:/files"] }
  db: { image: "postgres:16" }
volumes: { uploads: {}, data: {} }
`

describe("what backups names in a compose file", () => {
  it.scopedLive.each<readonly [what: string, item: object, compose: string, reason: string | undefined]>([
    ["a volume that is there", { volume: "uploads", stop: ["web"] }, compose, undefined],
    [
      "a volume that is spelled otherwise",
      { volume: "upload" },
      compose,
      "backups.items.it names the volume \"upload\", which the compose file does not have. Did you mean \"uploads\"?"
    ],
    [
      "an unknown volume",
      { volume: "elsewhere" },
      compose,
      "backups.items.it names the volume \"elsewhere\", which the compose file does not have. It has: uploads, data"
    ],
    [
      "a volume where there is none",
      { volume: "data" },
      "services: { web: { image: web } }\n",
      "backups.items.it names the volume \"data\", which the compose file does not have. It has none"
    ],
    [
      "an unknown service",
      { kind: "postgres", service: "queue" },
      compose,
      "backups.items.it names the service \"queue\", which the compose file does not have. It has: web, db"
    ],
    [
      "an unknown service to stop",
      { volume: "uploads", stop: ["worker"] },
      compose,
      "backups.items.it names the service \"worker\", which the compose file does not have. It has: web, db"
    ]
  ])("%s", ([, item, text, reason]) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const container = JSON.stringify({ backups: { items: { it: item } } })
      yield* plant(directory, { "compose.yml": text, "container.json": container })
      const refused = yield* Effect.match(planDeploy(directory), {
        onFailure: (error) => "reason" in error ? error.reason : error.message,
        onSuccess: () => undefined
      })
      expect(refused).toBe(reason)
    }).pipe(Effect.provide(Layer.provideMerge(Layer.merge(LocalFilesLive, settingsTest()), NodeContext.layer))))
})
