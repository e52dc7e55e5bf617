import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { utimes } from "node:fs/promises"
import { join } from "node:path"
import { readComposeFile } from "../../../src/pipelines/projects/compose.ts"
import { findComposeFile, readContainerConfig, readNewestTar } from "../../../src/pipelines/projects/files.ts"
import { inspectProject, listProjects } from "../../../src/pipelines/projects/projects.ts"
import { resolveProjectDirectory } from "../../../src/pipelines/projects/trust.ts"
import { LocalFileFailed, LocalFiles, LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { Settings } from "../../../src/services/settings/Settings.ts"
import { settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const local = Layer.provideMerge(LocalFilesLive, NodeContext.layer)

describe("projectDirectory", () => {
  it.scoped("takes an absolute directory and cleans its path", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, { "app/x": "", "link": { link: "app" } })
      expect(yield* resolveProjectDirectory(`${directory}/app/`)).toBe(join(directory, "app"))
      expect(yield* resolveProjectDirectory(`${directory}/app/../app/.`)).toBe(join(directory, "app"))
      expect(yield* resolveProjectDirectory(`${directory}/link`)).toBe(join(directory, "link"))
    }).pipe(Effect.provide([local, settingsTest()])))

  it.scoped("turns down what is relative, missing or no directory", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, { file: "" })
      for (const path of ["app", "~/app", "", "./x", `${directory}/none`, `${directory}/file`, "/a\0b"]) {
        const error = yield* Effect.flip(resolveProjectDirectory(path))
        expect(error).toMatchObject({ _tag: "ProjectPathInvalid", status: 400 })
        expect(error.message).toContain(JSON.stringify(path))
      }
    }).pipe(Effect.provide([local, settingsTest()])))
})

describe("inspectProject", () => {
  const inspected = (files: Parameters<typeof plant>[1]) =>
    Effect.gen(function*() {
      const directory = join(yield* temporaryDirectory, "app")
      yield* plant(directory, { ...files, here: "" })
      return yield* inspectProject(directory)
    }).pipe(Effect.provide(local))

  it.scoped("is configured with an image build file, a compose file and a server", () =>
    Effect.gen(function*() {
      const project = yield* inspected({
        "Containerfile": "",
        "docker-compose.yaml": "",
        "container.json": JSON.stringify({ serverId: "7", remotePath: "/srv/x" })
      })
      expect(project).toMatchObject({
        name: "app",
        hasImageFile: true,
        hasComposeFile: true,
        hasPlatformJson: false,
        containerStatus: "configured",
        tarFile: null,
        serverId: "7",
        remotePath: "/srv/x"
      })
    }))

  it.scoped.each(
    [
      [{}, "none"],
      [{ "platform.json": "[]" }, "none"],
      [{ "Dockerfile": "" }, "partial"],
      [{ "compose.yml": "" }, "partial"],
      [{ "container.json": "{}" }, "partial"],
      [{ "Dockerfile": "", "compose.yml": "", "container.json": "{\"serverId\": \"\"}" }, "partial"],
      [{ "Dockerfile": "", "compose.yml": "", "container.json": "{\"serverId\": " }, "partial"],
      [{ "Dockerfile": "", "container.json": "{\"serverId\": \"1\"}" }, "partial"]
    ] as const
  )("%j is %s", ([files, status]) =>
    Effect.gen(function*() {
      const project = yield* inspected(files)
      expect(project.containerStatus).toBe(status)
      expect(project.remotePath).toBe("~/containers/app")
    }))

  it.scoped("takes no directory for a file, and a link to a file for one", () =>
    Effect.gen(function*() {
      const project = yield* inspected({ "Dockerfile": { directory: true }, "compose.yml": { link: "here" } })
      expect(project).toMatchObject({ hasImageFile: false, hasComposeFile: true })
    }))

  it.scoped("names the archive that was written last", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, { "a.tar": "", "b.tar": "", "c.tar.gz": "", "d.tar": { directory: true } })
      yield* Effect.promise(() => utimes(join(directory, "a.tar"), 2_000_000_000, 2_000_000_000))
      expect(yield* readNewestTar(directory)).toEqual(Option.some("a.tar"))
    }).pipe(Effect.provide(local)))
})

describe("listProjects", () => {
  const listed = (projectsRoot: string) =>
    listProjects().pipe(Effect.provide([local, settingsTest({ "projects.root": projectsRoot }, [storedServer()])]))

  it.scoped("lists direct children that hold something to deploy, behind links too", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, {
        "root/web/Dockerfile": "",
        "root/api/platform.json": "[]",
        "root/db/compose.yml": "",
        "root/notes/readme.txt": "",
        "root/only config/container.json": "{}",
        "root/a file": "",
        "root/deep/er/Dockerfile": "",
        "elsewhere/Dockerfile": "",
        "root/linked": { link: "../elsewhere" },
        "root/dangling": { link: "../none" },
        "root/loop": { link: "loop" }
      })
      const projects = yield* listed(join(directory, "root"))
      expect(projects.map(({ name }) => name)).toEqual(["api", "db", "linked", "web"])
      expect(projects[2]?.path).toBe(join(directory, "root", "linked"))
    }))

  it.scoped("names a root that is set and missing, and lists nothing where none is set", () =>
    Effect.gen(function*() {
      const missing = join(yield* temporaryDirectory, "none")
      expect(yield* listed(missing)).toEqual([])
      const isSet = Layer.effect(
        Settings,
        Effect.map(Settings, (settings) => ({
          ...settings,
          list: Effect.map(settings.list, (all) => all.map((setting) => ({ ...setting, source: "file" as const })))
        }))
      ).pipe(Layer.provide(settingsTest({ "projects.root": missing }, [storedServer()])))
      const error = yield* Effect.flip(Effect.provide(listProjects(), [local, isSet]))
      expect(error.status).toBe(500)
      expect(error.message).toContain(missing)
      expect(error.message).toContain("projects.root")
    }))

  it.scoped("leaves out what it may not read", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, { "a/Dockerfile": "", "b/Dockerfile": "" })
      const locked = Layer.effect(
        LocalFiles,
        Effect.map(LocalFiles, (files) => ({
          ...files,
          names: (path: string) =>
            path === join(directory, "a")
              ? new LocalFileFailed({ path, reason: "permission denied" })
              : files.names(path)
        }))
      ).pipe(Layer.provideMerge(local))
      const projects = yield* listProjects().pipe(
        Effect.provide([locked, settingsTest({ "projects.root": directory })])
      )
      expect(projects.map(({ name }) => name)).toEqual(["b"])
    }))
})

it.scoped("a project with targets is configured, and stands at the first of them unless all are asked for", () =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const targets = [{ server: "web-1", remotePath: "/srv/x" }, { server: "web-2" }]
    yield* plant(directory, { "compose.yml": "", "Dockerfile": "", "container.json": JSON.stringify({ targets }) })
    expect(yield* inspectProject(directory)).toMatchObject({
      containerStatus: "configured",
      serverId: "web-1",
      remotePath: "/srv/x",
      targets: [
        { serverId: "web-1", remotePath: "/srv/x" },
        { serverId: "web-2", remotePath: `~/containers/${directory.split("/").at(-1)}` }
      ]
    })
  }).pipe(Effect.provide(local)))

describe("readContainerConfig", () => {
  const config = (text: string) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, { "container.json": text })
      return yield* readContainerConfig(directory)
    }).pipe(Effect.provide(local))

  it.scoped("is empty where there is none", () =>
    Effect.gen(function*() {
      expect(yield* readContainerConfig(yield* temporaryDirectory)).toEqual({})
    }).pipe(Effect.provide(local)))

  it.scoped("reads what is there, with a byte order mark", () =>
    Effect.gen(function*() {
      expect(yield* config("\uFEFF{\"serverId\": \"1\", \"files\": [\"a\"]}"))
        .toMatchObject({ serverId: "1", files: ["a"] })
    }))

  it.scoped.each(
    [
      ["{\"targets\": [{\"server\": \"web-1\"}],\n \"serverId\": \"1\"}", 2, "serverId and targets exclude each other"],
      [
        "{\"remotePath\": \"~/a\", \"targets\": [{\"server\": \"web-1\"}]}",
        1,
        "remotePath and targets exclude each other"
      ],
      ["{\"targets\": []}", 1, "targets must not be empty"],
      ["{\"targets\": [{\"server\": \"\"}]}", 1, "targets[0].server"],
      ["{\"targets\": [{\"remotePath\": \"~/a\"}]}", 1, "targets[0].server is missing"],
      [
        "{\"targets\": [{\"server\": \"web-1\",\n\"remotePath\": \"~\"}]}",
        2,
        "targets[0].remotePath must be absolute"
      ],
      ["{\"targets\": [{\"server\": \"web-1\", \"path\": \"~/a\"}]}", 1, "targets[0].path is not a known field"]
    ] as const
  )("names what is wrong with targets: %s", ([text, line, reason]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(config(text))
      expect(error).toMatchObject({ _tag: "ProjectFileInvalid", place: { line } })
      expect(error.message).toContain(reason)
    }))

  it.scoped("names file, line, column and field of a mistake", () =>
    Effect.gen(function*() {
      const syntax = yield* Effect.flip(config("{\n  \"serverId\": \"1\",\n  \"files\": [a]\n}"))
      expect(syntax.message).toMatch(
        /container\.json:3:13 is not valid JSON: a value must be a string in double quotes/
      )
      const shape = yield* Effect.flip(config("{\n  \"serverId\": \"1\",\n  \"files\": [\n    1\n  ]\n}"))
      expect(shape.message).toMatch(/container\.json:4:5: files\[0\] must be a string$/)
      expect(shape.status).toBe(422)
    }))

  it.scoped("refuses a key that it does not know, and says all that is wrong at once", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(config("{\n  \"filez\": [],\n  \"serverId\": 5\n}"))
      expect(error.message).toMatch(
        /container\.json:3:15: serverId must be a string\. filez is not a known field\. Did you mean "files"\? Known fields: /
      )
      expect(error.status).toBe(422)
    }))
})

describe("readComposeFile", () => {
  const compose = (files: Parameters<typeof plant>[1]) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, files)
      return yield* readComposeFile(directory)
    }).pipe(Effect.provide(local))

  it.scoped("reads images, builds and env files with the variables of .env", () =>
    Effect.gen(function*() {
      const read = yield* compose({
        ".env": "TAG=1.2\nSTAGE=prod\n",
        "extra.env": "",
        "compose.yml": `
x-common: &common
  image: common:\${TAG}
services:
  web:
    image: app:\${TAG:-latest}
    env_file: .env.$STAGE
  api:
    <<: *common
    env_file:
      - a.env
      - path: b.env
      - path: extra.env
        required: false
      - path: missing.env
        required: false
  worker:
    build: .
  built:
    build: { context: ./web/ }
    image: built
`
      })
      expect(read).toMatchObject({
        fileName: "compose.yml",
        services: [
          { name: "web", image: "app:1.2", builds: false, envFiles: [".env.prod"] },
          { name: "api", image: "common:1.2", builds: false, envFiles: ["a.env", "b.env", "extra.env"] },
          { name: "worker", builds: true, buildContext: ".", envFiles: [] },
          { name: "built", image: "built", builds: true, buildContext: "web", envFiles: [] }
        ]
      })
    }))

  it.scoped("takes the first of the names Compose knows", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* plant(directory, { "docker-compose.yml": "", "compose.yaml": "" })
      expect(yield* findComposeFile(directory)).toEqual(Option.some("compose.yaml"))
    }).pipe(Effect.provide(local)))

  it.scoped("says what is missing where there is none", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(compose({ here: "" }))
      expect(error.message).toMatch(/has no compose file: add one of compose\.yml/)
    }))

  it.scoped.each(
    [
      ["services:\n  web:\n   image: a\n  image: [\n", /compose\.yml:\d+:\d+ is not valid YAML: /],
      ["services:\n  web:\n    image: [1]\n", /compose\.yml:3:12: services\.web\.image/],
      [
        "services:\n  web:\n    image: ${TAG:?which one}\n",
        /compose\.yml:3:12: services\.web\.image: TAG is not set: which one/
      ],
      ["services:\n  - web\n", /compose\.yml:2:3: services must be an object$/],
      ["", /compose\.yml is empty: it needs a `services:` section$/],
      ["# nothing yet\n", /compose\.yml is empty: it needs a `services:` section$/],
      ["name: x\n", /compose\.yml:1:1 has no services: it needs a `services:` section$/],
      [
        "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nservices: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
        /compose\.yml/
      ]
    ] as const
  )("names file and line: %j", ([text, message]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(compose({ "compose.yml": text }))
      expect(error).toMatchObject({ _tag: "ProjectFileInvalid", status: 422 })
      expect(error.message).toMatch(message)
    }))
})
