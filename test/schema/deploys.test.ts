import { expect, it } from "vitest"
import { countChanges, describeRollout, type PlannedService } from "../../src/schema/deploys.ts"

const route = (host: string) => ({ host, routeName: "hello", file: "/etc/traefik/berth.yml" })

it.each<[string, Omit<PlannedService, "change" | "name">]>([
  ["", {}],
  ["", { rollout: null, routes: [] }],
  [
    "bridged: a second container takes the requests of a.example.com, hello meanwhile",
    { rollout: "bridged", routes: [route("a.example.com"), route("a.example.com"), route("")] }
  ],
  ["bridged: a second container takes the requests of its port meanwhile", { rollout: "bridged" }],
  ["not bridged: it publishes no port", { rollout: "recreate", rolloutReason: "it publishes no port", routes: [] }]
])("tells %j of a planned service", (words, fields) => {
  expect(describeRollout({ name: "web", change: "recreate", ...fields })).toBe(words)
})

it("counts files and images that differ, and services whose containers go", () => {
  const plan = (services: ReadonlyArray<PlannedService>) => countChanges({ files: [], images: [], services })
  expect(plan([{ name: "web", change: "recreate" }, { name: "db", change: "create" }, { name: "c", change: "keep" }]))
    .toBe(0)
  expect(plan([{ name: "web", change: "keep" }, { name: "old", change: "remove" }])).toBe(1)
})
