import { describe, expect, it } from "vitest"
import { decideServiceChanges } from "../../../../src/pipelines/deploy/decide.ts"

const compose = "services:\n  web:\n    image: shop\n"
const container = (service: string) => ({ id: service, image: "sha256:a", service, isRunning: true })

/** Services and warnings of a deploy of `web` where these services have containers. */
const changes = (there: ReadonlyArray<string>, keepsOrphans: boolean) =>
  decideServiceChanges({
    services: [
      { name: "web", runs: true, envFiles: [] },
      { name: "seed", runs: false, envFiles: [] }
    ],
    fileName: "compose.yml",
    after: new Map(),
    there: { containers: there.map(container), compose, env: "", release: "1" },
    keepsOrphans
  }, { compose, env: "", changedFiles: new Set() })

describe("the services of a deploy", () => {
  it("end with those whose containers go, since the compose files no longer have them", () => {
    expect(changes(["web", "old", "cron", "old"], false)).toEqual({
      services: [
        { name: "web", change: "keep" },
        { name: "cron", change: "remove" },
        { name: "old", change: "remove" }
      ],
      warnings: ["cron", "old"].map((name) =>
        `the service ${name} has containers there and is not in compose.yml: they are removed ("keepOrphans": true in container.json keeps them)`
      )
    })
  })

  it("keep those containers where container.json says so", () => {
    expect(changes(["web", "old"], true)).toEqual({
      services: [{ name: "web", change: "keep" }, { name: "old", change: "keep" }],
      warnings: ["the service old has containers there and is not in compose.yml: they stay as they are"]
    })
  })

  it("keep those that no active profile has", () => {
    expect(changes(["web", "seed"], false)).toEqual({
      services: [{ name: "web", change: "keep" }, { name: "seed", change: "keep" }],
      warnings: []
    })
  })
})
