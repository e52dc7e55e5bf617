import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { addressOf, type Field, type Operation, operations, withValue } from "../../fixtures/hostile/operations.ts"
import { soundRequests } from "../../fixtures/hostile/soundRequests.ts"
import { patience } from "../../fixtures/patience.ts"
import { settingsFileWith, startService } from "../../fixtures/programs/service.ts"

const id = "1763800000001"
const [twin, otherTwin] = ["1763800000002", "1763800000003"]

/** Port 1 refuses connections: an endpoint that gets to a server fails with its name. */
const settings = (root: string) =>
  `projects:
  root: ${JSON.stringify(root)}
servers:
${
    [[id, "Main"], [twin, "Twin"], [otherTwin, "twin"], ["attic", "Main attic"], ["Spare", "Other"], ["5", "Spare"]]
      .map(([id, name]) => `  - { id: "${id}", name: "${name}", host: 127.0.0.1, port: 1, username: ann, password: x }`)
      .join("\n")
  }
`

/** The field of an operation that names a stored server; nothing where none does. */
const serverField = ({ fields, name }: Operation): Field | undefined =>
  // A server is replaced by its id alone: its name may be what changes.
  name === "POST /api/servers" ? undefined : fields.find((field) => {
    const path = field.join(".")
    return /^(body|query)\.serverId$/.test(path) || (path === "path.id" && name.includes("/api/servers/")) ||
      (path === "body.id" && name === "POST /api/servers/test")
  })

const asking = operations.flatMap((operation) => {
  const field = serverField(operation)
  return field === undefined ? [] : [{ operation, field }]
})

describe("a server that is asked for", () => {
  it.scopedLive("is found by its id or its only name at every endpoint", () =>
    Effect.gen(function*() {
      const root = join(dirname(yield* settingsFileWith("")), "projects")
      mkdirSync(join(root, "hello"), { recursive: true })
      writeFileSync(join(root, "hello", "compose.yml"), "services:\n  web:\n    image: busybox\n")
      const settingsFile = yield* settingsFileWith(settings(root))
      const { request } = yield* startService(settingsFile)
      const sound = soundRequests({ serverId: id, projects: root, here: root, uuid: "none" })
      const answer = (operation: Operation, field: Field, server: string) =>
        Effect.map(
          Effect.suspend(() => {
            const init = { body: { projectPath: join(root, "hello"), plan: true } }
            const asked = operation.name === "POST /api/projects/init" ? init : sound[operation.name] ?? {}
            const parts = withValue(asked, field, server)
            return request(operation.method, addressOf(operation, parts), parts.body)
          }),
          ({ status, text }) =>
            `${status} ${text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replace(/"[0-9a-z]{26}"/g, "ID")}`
        )
      expect(asking.length).toBeGreaterThanOrEqual(19)
      // These change who is found; test/http/settings.sandbox.test.ts replaces one by its name.
      const repeatable = asking.filter(({ operation }) => !["DELETE", "PUT"].includes(operation.method))
      for (const { field, operation } of repeatable) {
        const byId = yield* answer(operation, field, id)
        expect([operation.name, byId]).not.toEqual([operation.name, expect.stringContaining("Server not found")])
        for (const name of ["Main", "mAIN"]) {
          expect([operation.name, yield* answer(operation, field, name)]).toEqual([operation.name, byId])
        }
        // Its own id is what is meant first, also where another server is called so.
        if (operation.name !== "GET /api/runs") {
          expect([operation.name, yield* answer(operation, field, "Spare")]).toEqual([
            operation.name,
            byId.replaceAll("\"Main\\\"", "\"Other\\\"").replaceAll(id, "Spare")
          ])
        }
        expect([operation.name, yield* answer(operation, field, "TWIN")]).toEqual([
          operation.name,
          `409 {"error":"2 stored servers are named \\"TWIN\\": name one by its id: ${twin}, ${otherTwin}"}`
        ])
      }
    }), 30_000 * patience)

  it.scopedLive("is forgotten by its name, and not where two have it", () =>
    Effect.gen(function*() {
      const { request } = yield* startService(yield* settingsFileWith(settings("/nowhere")))
      expect((yield* request("DELETE", "/api/servers/twin")).status).toBe(409)
      expect((yield* request("DELETE", "/api/servers/MAIN")).body).toEqual({ success: true })
      expect((yield* request("DELETE", "/api/servers/nobody")).body).toEqual({ success: true })
      const { body } = yield* request("GET", "/api/servers")
      expect(body).toHaveLength(5)
      expect(JSON.stringify(body)).not.toContain(id)
    }))

  it.scopedLive("is named by container.json, by either", () =>
    Effect.gen(function*() {
      const root = join(dirname(yield* settingsFileWith("")), "projects")
      const named = { a: id, b: "main", c: "Twin", d: "nobody" }
      for (const [name, serverId] of Object.entries(named)) {
        mkdirSync(join(root, name), { recursive: true })
        writeFileSync(join(root, name, "compose.yml"), "services: {}\n")
        writeFileSync(join(root, name, "container.json"), JSON.stringify({ serverId }))
      }
      const { request } = yield* startService(yield* settingsFileWith(settings(root)))
      const { body } = yield* request("GET", "/api/projects")
      expect(body).toMatchObject([
        { name: "a", serverId: id },
        { name: "b", serverId: id },
        { name: "c", serverId: "Twin" },
        { name: "d", serverId: "nobody" }
      ])
      const overview = yield* request("GET", "/api/overview")
      expect(overview.body).toMatchObject({
        projects: [
          { name: "a", servers: [{ serverId: id, serverName: "Main" }] },
          { name: "b", servers: [{ serverId: id, serverName: "Main" }] },
          { name: "c", servers: [{ serverId: "Twin", serverName: null }] },
          { name: "d", servers: [{ serverId: "nobody", serverName: null }] }
        ]
      })
    }), 30_000 * patience)
})
