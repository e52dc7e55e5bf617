import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readComposeFile } from "../../../../src/pipelines/projects/compose.ts"
import { checkComposeKeys } from "../../../../src/pipelines/projects/compose/checkComposeKeys.ts"
import { composeSections } from "../../../../src/pipelines/projects/compose/composeKeys.ts"
import { findBuildSections } from "../../../../src/pipelines/projects/composeBuilds.ts"
import { patience } from "../../../fixtures/patience.ts"
import { memoryWorld } from "../../../layers/worlds/memoryWorld.ts"

const version1 = { composeKind: "v1", composeVersion: "1.29.2", engine: "20.10.24" } as const
const version2 = (composeVersion: string, engine = "28.1.1") => ({ composeKind: "v2", composeVersion, engine }) as const

const read = (files: Readonly<Record<string, string>>) =>
  readComposeFile("/srv/shop").pipe(Effect.provide(memoryWorld({
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`/srv/shop/${name}`, text]))
  })))

const check = (facts: Parameters<typeof checkComposeKeys>[1], compose: string, others: Record<string, string> = {}) =>
  Effect.map(read({ "compose.yml": compose, ...others }), ({ sources }) => checkComposeKeys(sources, facts, "Main"))

const included = `# a shop
include:
  - db.yml
services:
  web:
    image: web
`
const files = { "db.yml": "services:\n  db:\n    image: postgres\n    develop:\n      watch: []\n" }

describe("keys of compose files", () => {
  it.effect("name key and line where the server's Compose is too old, also of included files", () =>
    Effect.gen(function*() {
      expect(yield* check(version1, included, files)).toEqual({
        obstacles: [
          "db.yml:4: services.db.develop needs Compose 2.22, and \"Main\" has docker-compose 1.29.2",
          "db.yml:5: services.db.develop.watch needs Compose 2.22, and \"Main\" has docker-compose 1.29.2",
          "compose.yml:2: include needs Compose 2.20, and \"Main\" has docker-compose 1.29.2"
        ],
        warnings: []
      })
      expect((yield* check(version2("2.21.0-4+b1"), included, files)).obstacles).toEqual([
        "db.yml:4: services.db.develop needs Compose 2.22, and \"Main\" has Compose 2.21.0-4+b1",
        "db.yml:5: services.db.develop.watch needs Compose 2.22, and \"Main\" has Compose 2.21.0-4+b1"
      ])
      expect((yield* check(version2("v2.22.0"), included, files)).obstacles).toEqual([])
      expect((yield* check(version2("5.0.0-rc.1"), included, files)).obstacles).toEqual([])
    }))

  it.effect("are compared as numbers, and not at all with a version that cannot be read", () =>
    Effect.gen(function*() {
      const compose =
        "services:\n  web: {image: a, volumes: [{type: bind, source: ./a, target: /a, bind: {selinux: z}}]}\n"
      const said = "compose.yml:2: services.web.volumes.0.bind.selinux needs Compose 2.3, and \"Main\" has "
      expect((yield* check(version2("2.2.3"), compose)).obstacles).toEqual([`${said}Compose 2.2.3`])
      expect((yield* check(version2("2.10.0"), compose)).obstacles).toEqual([])
      expect((yield* check(version2("dev"), compose)).obstacles).toEqual([])
      expect((yield* check({ ...version1, composeVersion: "1.x" }, compose)).obstacles).toEqual([
        `${said}docker-compose 1.x`
      ])
    }))

  it.effect("that no Compose knows are obstacles, and warnings where the server's is later than the table", () =>
    Effect.gen(function*() {
      const compose =
        "x-common: {a: 1}\nservces: {}\nservices:\n  web:\n    image: a\n    x-note: b\n    enviroment: {A: b}\n    build: {contxt: .}\n"
      const wrong = [
        ["compose.yml:2: servces", "services"],
        ["compose.yml:7: services.web.enviroment", "environment"],
        ["compose.yml:8: services.web.build.contxt", "context"]
      ]
      for (const facts of [version1, version2("2.26.1")]) {
        expect(yield* check(facts, compose)).toEqual({
          obstacles: wrong.map(([what, meant]) =>
            `${what} is not a key of Compose, which would refuse it. Did you mean "${meant}"?`
          ),
          warnings: []
        })
      }
      expect(yield* check(version2("5.9.1"), compose)).toEqual({
        obstacles: [],
        warnings: wrong.map(([what, meant]) =>
          `${what} is not a key that Berth knows, and Compose 5.9.1 on "Main" may refuse it. Did you mean "${meant}"?`
        )
      })
    }))

  it.effect("under names that users choose are left alone", () =>
    Effect.gen(function*() {
      const compose = [
        "services:",
        "  web: {image: a, environment: {imge: b}, labels: {foo: b}, networks: {front: {aliases: [a]}, back: }}",
        "  x-web: {image: a, logging: {driver: x, options: {max: 1}}, ulimits: {nofile: 3}, ports: [80], env_file: [a.env]}",
        "networks: {front: {driver_opts: {any: a}}, back: {external: {name: b}}}",
        "volumes: {data: }"
      ].join("\n")
      for (const facts of [version1, version2("2.26.1")]) {
        expect(yield* check(facts, compose, { "a.env": "" })).toEqual({ obstacles: [], warnings: [] })
      }
    }))

  it.effect("come with their tags: those that a Compose does not follow, and for docker-compose 1.x all others", () =>
    Effect.gen(function*() {
      const compose =
        "services:\n  web:\n    image: a\n    ports: !reset []\n    dns: !override [a]\n    tmpfs: !mine [b]\n"
      expect((yield* check(version2("2.20.3"), compose)).obstacles).toEqual([
        "compose.yml:5: !override needs Compose 2.24.4, and \"Main\" has Compose 2.20.3"
      ])
      expect((yield* check(version1, compose)).obstacles).toEqual([
        "compose.yml:4: !reset needs Compose 2.18, and \"Main\" has docker-compose 1.29.2",
        "compose.yml:5: !override needs Compose 2.24.4, and \"Main\" has docker-compose 1.29.2",
        "compose.yml:6: !mine is a tag that docker-compose 1.29.2 on \"Main\" refuses"
      ])
    }))

  it.effect("of jobs need Compose 5.8, and with a schedule an engine that has the extension", () =>
    Effect.gen(function*() {
      const compose = [
        "services: {web: {image: a}}",
        "jobs:",
        "  migrate: {image: a, triggers: {manual: true}}",
        "  backup:",
        "    image: a",
        "    triggers:",
        "      schedule: [{cron: 0 3 * * *}]"
      ].join("\n")
      expect((yield* check(version2("5.5.0"), compose)).obstacles[0]).toBe(
        "compose.yml:2: jobs needs Compose 5.8, and \"Main\" has Compose 5.5.0"
      )
      expect((yield* check(version2("5.8.0", "29.9.1"), compose)).obstacles).toEqual([
        "compose.yml:6: jobs.backup.triggers has a schedule, which needs Docker 29.10 with its jobs extension, and " +
        "\"Main\" has Docker 29.9.1"
      ])
      expect(yield* check(version2("5.8.0", "29.10.0"), compose)).toEqual({
        obstacles: [],
        warnings: [
          "compose.yml:6: jobs.backup.triggers has a schedule: Compose starts nothing of the stack unless Docker on " +
          "\"Main\" runs with its jobs extension"
        ]
      })
    }))

  it.effect("of a build that the table calls unsupported are those that a build here refuses", () =>
    Effect.gen(function*() {
      for (const { name, support } of composeSections.get("services.*.build")?.keys.values() ?? []) {
        const compose = `services:\n  web:\n    build:\n      context: .\n      ${name}: {}\n`
        const { message } = yield* findBuildSections("/srv/shop").pipe(
          Effect.provide(memoryWorld({ files: { "/srv/shop/compose.yml": compose, "/srv/shop/Dockerfile": "" } })),
          Effect.flip,
          Effect.orElseSucceed(() => ({ message: "" }))
        )
        expect(message.includes("is not supported by a build here"), name).toBe(support === "no")
      }
    }))

  it.effect(
    "are found in no more time than the size of the files takes, and told up to a limit",
    () =>
      Effect.gen(function*() {
        const shared = `x-all: &all [${
          Array.from({ length: 1_500 }, (_, at) => `{type: bind, wrong${at}: a}`).join(", ")
        }]`
        const services = Array.from({ length: 90 }, (_, at) => `  s${at}: {image: a, volumes: *all}`).join("\n")
        const { sources } = yield* read({ "compose.yml": `${shared}\nservices:\n${services}\n` })
        const began = process.cpuUsage()
        const { obstacles } = checkComposeKeys(sources, version1, "Main")
        const { system, user } = process.cpuUsage(began)
        expect((system + user) / 1_000).toBeLessThan(2_000 * patience)
        expect(obstacles).toHaveLength(21)
        expect(obstacles.at(-1)).toMatch(/^\d+ more keys of the compose files are refused$/)
        // A later Compose may know them.
        const { warnings } = checkComposeKeys(
          sources,
          { ...version1, composeKind: "v2", composeVersion: "9.0.0" },
          "Main"
        )
        expect(warnings.at(-1)).toMatch(/^\d+ more keys of the compose files may be refused$/)
      }),
    60_000 * patience
  )
})
