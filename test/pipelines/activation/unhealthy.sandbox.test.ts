import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { scene } from "../../fixtures/docker/deployScene.ts"

const healthy = "services:\n  web:\n    image: shop:latest\n"
const exits = `${healthy}    command: ["sh", "-c", "exit 3"]\n`

describe("a deploy that ends unhealthy", () => {
  it.scopedLive("is rolled back to the release before", () =>
    Effect.gen(function*() {
      const stage = yield* scene({ settings: { "deploy.healthInterval": Duration.millis(50) } })
      const write = (name: string, text: string) => writeFileSync(join(stage.directory, name), text)
      write("compose.yml", healthy)
      write("container.json", "{}")
      yield* stage.bring(stage.archive("one"))
      expect(yield* stage.deployed).toMatchObject({ success: true, healthy: true })

      write("compose.yml", exits)
      write("container.json", "{\"healthTimeout\": \"2 seconds\"}")
      const result = yield* stage.deployed
      expect(result).toMatchObject({ success: false, healthy: false })
      expect(result.message).toContain("Release 1, which ran before, runs again and is healthy.")
      expect(yield* stage.docker("inspect", "--format", "{{.State.Status}}", "shop-web-1")).toBe("running")
      expect((yield* stage.releases).map(({ current, id }) => [id, current])).toEqual([["1", true]])

      write("compose.yml", `${healthy}    healthcheck: { test: ["CMD", "false"] }\n`)
      const failed = yield* stage.deployed
      expect(failed).toMatchObject({ success: false, healthy: false })
      expect(failed.message.split("\n").slice(1, 3)).toEqual([
        "shop-web-1: its health check ended with 1: this is a stand-in, the health check declares a failure",
        "shop-web-1 (running), the last lines of its log:"
      ])
    }))
})
