import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { spawnSync } from "node:child_process"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { planDeploy } from "../../../../src/pipelines/deploy/preflight.ts"
import { readComposeFile } from "../../../../src/pipelines/projects/compose.ts"
import { decideReferences, listServicesSeeing } from "../../../../src/pipelines/projects/deployFiles.ts"
import { LocalFilesLive } from "../../../../src/services/local/LocalFiles.ts"
import { settingsTest } from "../../../../src/testing/SettingsTest.ts"
import { plant, temporaryDirectory } from "../../../layers/temporary.ts"

const local = Layer.provideMerge(Layer.merge(LocalFilesLive, settingsTest()), NodeContext.layer)
type Files = Parameters<typeof plant>[1]

const planted = (files: Files) => Effect.tap(temporaryDirectory, (directory) => plant(directory, files))
const read = (files: Files, choice = {}) =>
  Effect.flatMap(planted(files), (directory) => readComposeFile(directory, choice)).pipe(Effect.provide(local))
const plan = (files: Files) => Effect.flatMap(planted(files), planDeploy).pipe(Effect.provide(local))

const there = (directories: ReadonlyArray<string> = [], others: ReadonlyArray<string> = []) => ({
  directories: new Set(directories),
  others: new Set(others)
})
const place = { remotePath: "~/containers/shop", server: "Main" }

const mounted = `services:
  web:
    image: web
    volumes:
      - ./nginx.conf:/etc/nginx.conf
      - ./conf.d:/etc/conf.d:ro
      - ./uploads:/uploads
      - ./data/db:/db
      - type: bind
        source: ./long.txt
        target: /long.txt
      - named:/named
      - /etc/localtime:/etc/localtime:ro
      - \${PWD}/pwd.txt:/pwd.txt
    configs: [site]
    secrets:
      - source: key
        target: key
  off:
    image: off
    profiles: [dev]
    volumes: ["./only-dev:/x"]
configs:
  site: { file: ./site.json }
secrets:
  key: { file: ./keys/key.pem }
volumes:
  named:
`
const present: Files = {
  "compose.yml": mounted,
  "nginx.conf": "a",
  "conf.d/one": "1",
  "conf.d/sub/two": "2",
  "uploads/old": "",
  "long.txt": "",
  "pwd.txt": "",
  "site.json": "{}",
  "keys/key.pem": "secret"
}

describe("references", () => {
  it.scoped("are brought, or data of the server, each with its place", () =>
    Effect.gen(function*() {
      const { files, references } = yield* plan(present)
      const { obstacles, references: decided, warnings } = decideReferences(references, there(), place)
      expect(decided).toEqual([
        { path: "nginx.conf", at: "compose.yml:5", decided: "brought" },
        { path: "conf.d", at: "compose.yml:6", decided: "brought" },
        { path: "uploads", at: "compose.yml:7", decided: "data" },
        { path: "data/db", at: "compose.yml:8", decided: "data" },
        { path: "long.txt", at: "compose.yml:9", decided: "brought" },
        { path: "pwd.txt", at: "compose.yml:14", decided: "brought" },
        { path: "site.json", at: "compose.yml:24", decided: "brought" },
        { path: "keys/key.pem", at: "compose.yml:26", decided: "brought" }
      ])
      expect(obstacles).toEqual([])
      expect(warnings).toEqual([expect.stringMatching(/^compose\.yml:7 mounts "uploads" for writing: /)])
      expect(files.map(({ name }) => name)).toEqual([
        "compose.yml",
        "nginx.conf",
        "conf.d/one",
        "conf.d/sub/two",
        "long.txt",
        "pwd.txt",
        "site.json",
        "keys/key.pem"
      ])
    }))

  it.scoped("that are missing stop the deploy unless the server has them or `data` names them", () =>
    Effect.gen(function*() {
      const { "nginx.conf": _, ...others } = present
      const { references } = yield* plan(others)
      expect(decideReferences(references, there(), place).obstacles).toEqual([
        expect.stringMatching(/^compose\.yml:5 mounts "nginx\.conf", which neither the project nor "Main" has: /)
      ])
      expect(decideReferences(references, there([], ["nginx.conf"]), place)).toMatchObject({
        obstacles: [],
        references: [{ path: "nginx.conf", decided: "data" }, {}, {}, {}, {}, {}, {}, {}]
      })
      const declared = yield* plan({ ...others, "container.json": "{\"data\": [\"nginx.conf\", \"uploads\"]}" })
      expect(decideReferences(declared.references, there(), place)).toMatchObject({ obstacles: [], warnings: [] })
    }))

  it.scoped("name the directory that Docker made of a file, and how to remove it", () =>
    Effect.gen(function*() {
      const { references } = yield* plan(present)
      expect(decideReferences(references, there(["nginx.conf", "conf.d"]), place).obstacles).toEqual([
        expect.stringMatching(/^"nginx\.conf" \(compose\.yml:5\) is a file here and a directory on "Main", .* rmdir/)
      ])
    }))

  it.scoped("outside of the project are refused without allowLinks", () =>
    Effect.gen(function*() {
      const outside = {
        "compose.yml": "services:\n  a:\n    image: a\n    volumes: [\"../out.conf:/x\", \"./in:/y:ro\"]\n"
      }
      const directory = yield* planted({ ...outside, "container.json": "{}" })
      yield* Effect.sync(() => symlinkSync("/etc", join(directory, "in")))
      const { references } = yield* planDeploy(directory)
      const { obstacles, references: decided } = decideReferences(references, there(), place)
      expect(decided.map((each) => each.decided)).toEqual(["outside", "outside"])
      expect(obstacles).toEqual([
        expect.stringMatching(/^compose\.yml:4 mounts "\.\.\/out\.conf", which leaves the project/),
        expect.stringMatching(/^compose\.yml:4 mounts "in", which is a link that leads out of the project/)
      ])
      const allowed = yield* plan({ ...outside, "in/x": "", "container.json": "{\"allowLinks\": true}" })
      expect(decideReferences(allowed.references, there(), place)).toMatchObject({
        obstacles: [],
        warnings: [expect.stringContaining("so \"Main\" needs it already")]
      })
    }).pipe(Effect.provide(local)))

  it.scoped("to a FIFO, or without end, are refused with file and line", () =>
    Effect.gen(function*() {
      const compose = "services:\n  a:\n    image: a\n    volumes:\n      - ./pipe:/x:ro\n"
      const directory = yield* planted({ "compose.yml": compose })
      yield* Effect.sync(() => spawnSync("mkfifo", [join(directory, "pipe")]))
      const error = yield* Effect.flip(planDeploy(directory))
      expect(error.message).toMatch(/compose\.yml:5:1: names "pipe", which is not a regular file or a directory/)
      const many = Array.from({ length: 6_000 }, (_, index) => `      - ./f${index}:/f${index}\n`).join("")
      const excess = yield* Effect.flip(read({ "compose.yml": `services:\n  a:\n    image: a\n    volumes:\n${many}` }))
      expect(excess).toMatchObject({ _tag: "ProjectFileInvalid", status: 422 })
      expect(excess.message).toMatch(/compose\.yml:5005:9 is one more than the 5000 files/)
    }).pipe(Effect.provide(local)))

  it("tell the services whose containers see a changed file", () => {
    const mounts = [{ service: "web", path: "conf.d" }, { service: "db", path: "my.cnf" }]
    expect([...listServicesSeeing(mounts, ["conf.d/sub/two"])]).toEqual(["web"])
    expect([...listServicesSeeing(mounts, ["conf.dx", "other"])]).toEqual([])
  })
})

describe("compose files", () => {
  it.scoped("extend and include each other, with paths from their own directories", () =>
    Effect.gen(function*() {
      const compose = yield* read({
        ".env": "DIR=common\n",
        "compose.yml":
          "include:\n  - path: sub/compose.yml\nservices:\n  web:\n    extends: { file: \"${DIR}/base.yml\", service: base }\n    volumes: [\"./own.txt:/own\"]\n",
        "common/base.yml":
          "services:\n  base:\n    image: base:1\n    env_file: b.env\n    volumes: [\"./b.txt:/b\"]\n",
        "sub/compose.yml": "services:\n  db:\n    image: \"db:${V}\"\n    volumes: [\"./db.cnf:/db.cnf\"]\n",
        "sub/.env": "V=7\n"
      })
      expect(compose.services).toMatchObject([{ name: "db", image: "db:7" }, {
        name: "web",
        image: "base:1",
        envFiles: ["common/b.env"],
        sources: ["common/base.yml"]
      }])
      expect(compose.references.map(({ at, path }) => [path, at])).toEqual([
        ["sub/db.cnf", "sub/compose.yml:4"],
        ["common/b.txt", "common/base.yml:5"],
        ["own.txt", "compose.yml:6"]
      ])
      expect(compose.named).toMatchObject([
        { name: "sub/compose.yml", at: "compose.yml:2" },
        { name: "sub/.env" },
        { name: "common/base.yml", at: "compose.yml:5" },
        { name: "common/b.env", at: "common/base.yml:4" }
      ])
    }))

  it.scoped("are merged in their order, with `!reset` and `!override`", () =>
    Effect.gen(function*() {
      const compose = yield* read({
        "compose.yml":
          "services:\n  web:\n    image: web:1\n    profiles: [x]\n    volumes: [\"./a:/a\", \"./b:/b\"]\n    env_file: a.env\n  old: { image: old }\n",
        "compose.prod.yml":
          "services:\n  web:\n    image: web:2\n    volumes: !override [\"./c:/c\"]\n    env_file: !reset []\n    profiles: !reset []\n  old: !reset null\n"
      }, { compose: ["compose.yml", "compose.prod.yml"] })
      expect(compose.services).toMatchObject([{ name: "web", image: "web:2", envFiles: [], runs: true }])
      expect(compose.references.map(({ path }) => path)).toEqual(["c"])
      expect(compose.fileNames).toEqual(["compose.yml", "compose.prod.yml"])
    }))

  it.scoped("and profiles come from COMPOSE_FILE and COMPOSE_PROFILES of .env, unless container.json names them", () =>
    Effect.gen(function*() {
      const files = {
        ".env": "COMPOSE_FILE=a.yml:b.yml\nCOMPOSE_PROFILES=dev, debug\n",
        "a.yml": "services:\n  web: { image: web }\n  tool: { image: tool, profiles: [debug] }\n",
        "b.yml": "services:\n  web: { image: \"web:2\" }\n"
      }
      expect(yield* read(files)).toMatchObject({
        fileNames: ["a.yml", "b.yml"],
        profiles: ["dev", "debug"],
        variables: ["COMPOSE_FILE", "COMPOSE_PROFILES"],
        services: [{ image: "web:2" }, { name: "tool", runs: true }]
      })
      expect(yield* read(files, { compose: ["a.yml"], profiles: ["other"] })).toMatchObject({
        fileNames: ["a.yml"],
        variables: [],
        services: [{ image: "web" }, { name: "tool", runs: false }]
      })
    }))

  it.scoped("take their variables from envFiles, later ones over earlier ones", () =>
    Effect.gen(function*() {
      const files = {
        "compose.yml": "services:\n  web: { image: \"web:$A$B\" }\n",
        "one.env": "A=1\nB=1\n",
        "two.env": "B=2\n"
      }
      const compose = yield* read(files, { envFiles: ["one.env", "two.env"] })
      expect(compose.services).toMatchObject([{ image: "web:12" }])
      const error = yield* Effect.flip(read(files, { envFiles: ["three.env"] }))
      expect(error.message).toMatch(/three\.env: does not exist/)
    }))

  it.scoped.each(
    [
      [
        "extends itself",
        { "compose.yml": "services:\n  a: { extends: b }\n  b: { extends: a }\n" },
        /compose\.yml:3:17: extends itself: compose\.yml: a → /
      ],
      [
        "includes itself",
        { "compose.yml": "include:\n  - b.yml\nservices: {}\n", "b.yml": "include: [compose.yml]\nservices: {}\n" },
        /b\.yml:1:11: includes itself: compose\.yml → b\.yml → compose\.yml/
      ],
      [
        "names a missing file",
        { "compose.yml": "services:\n  a: { extends: { file: x.yml, service: a } }\n" },
        /compose\.yml:2:17: names "x\.yml", which does not exist/
      ],
      [
        "names an address with a password, which the refusal does not show",
        { "compose.yml": "include: [\"oci://ann:hush@registry.test/a\"]\nservices: {}\n" },
        /compose\.yml:1:11: names "oci:\/\/\*\*\*@registry\.test\/a", which does not exist/
      ],
      [
        "leaves the project",
        { "compose.yml": "include: [../x.yml]\nservices: {}\n" },
        /compose\.yml:1:11: names "\.\.\/x\.yml", which leaves the project/
      ]
    ] as const
  )("that %s are refused with file and line", ([, files, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(read(files))
      expect(error).toMatchObject({ _tag: "ProjectFileInvalid", status: 422 })
      expect(error.message).toMatch(message)
    }))

  it.scoped("refuse secrets as variables where compose does not read .env", () =>
    Effect.gen(function*() {
      const config = (envFiles: ReadonlyArray<string>) => ({
        "compose.yml": "services:\n  a:\n    image: a\n    environment: [KEY]\n",
        ".env": "",
        "prod.env": "",
        "container.json": JSON.stringify({ envFiles, secrets: { KEY: { command: ["true"] } } })
      })
      const { message } = yield* Effect.flip(plan(config(["prod.env"])))
      expect(message).toMatch(/envFiles leaves out \.env, where the server gets the secrets/)
      yield* plan(config(["prod.env", ".env"]))
    }))
})
