import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Struct } from "effect"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { planDeploy } from "../../../src/pipelines/deploy/preflight.ts"
import { inspectProject } from "../../../src/pipelines/projects/projects.ts"
import { LocalFiles, LocalFilesLive, type LocalName } from "../../../src/services/local/LocalFiles.ts"
import { settingsTest } from "../../../src/testing/SettingsTest.ts"
import { plant, type Planted, temporaryDirectory } from "../../layers/temporary.ts"

const local = Layer.provideMerge(Layer.merge(LocalFilesLive, settingsTest()), NodeContext.layer)
const compose = "services:\n  web:\n    image: shop\n"
const files = (config: object): { readonly [path: string]: Planted } => ({
  "outside/secret": "root:x",
  "outside/folder/key": "k",
  "shop/compose.yml": compose,
  "shop/container.json": JSON.stringify(config)
})

/** Names of the files that a deploy would send, or its failure. */
const planned = (tree: { readonly [path: string]: Planted }, pipe?: string) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    yield* plant(root, tree)
    if (pipe !== undefined) execFileSync("mkfifo", [join(root, "shop", pipe)])
    return yield* planDeploy(join(root, "shop")).pipe(
      Effect.match({
        onFailure: ({ message }) => message.replaceAll(root, ""),
        onSuccess: ({ archive, files }) => [...files, ...archive === undefined ? [] : [archive]].map(({ name }) => name)
      })
    )
  }).pipe(Effect.provide(local))

const out = (link: string, target: string) =>
  `/shop/${link} is a link that leads out of the project, to /outside/${target}. ` +
  "Copy what it leads to into the project, or allow it with \"allowLinks\": true in container.json"

describe("what a deploy sends", () => {
  it.scoped.skipIf(process.platform === "win32")("is never a pipe, which is named", () =>
    Effect.gen(function*() {
      expect(yield* planned(files({ files: ["pipe"] }), "pipe")).toBe("/shop/pipe is not a regular file")
      expect(yield* planned(files({}), ".env")).toBe("/shop/.env is not a regular file")
    }))

  it.scoped("is never what Berth keeps of the releases there", () =>
    Effect.gen(function*() {
      for (const name of [".berth", ".berth/restore.sh", "./.berth//current"]) {
        expect(
          yield* planned({ ...files({ files: [name] }), "shop/.berth/restore.sh": "x", "shop/.berth/current": "1" })
        )
          .toMatch(/\.berth.*" is where Berth keeps the releases on the server: name it otherwise$/)
      }
      expect(yield* planned({ ...files({ files: [".berthrc"] }), "shop/.berthrc": "x" })).toContain(".berthrc")
    }))

  it.scoped("follows no link out of the project, and names the link and where it leads", () =>
    Effect.gen(function*() {
      const links = { files: ["conf/folder/key"] }
      expect(yield* planned({ ...files({}), "shop/.env": { link: "../outside/secret" } })).toBe(out(".env", "secret"))
      expect(yield* planned({ ...files({ files: ["etc"] }), "shop/etc": { link: "../outside/folder" } }))
        .toBe(out("etc", "folder"))
      expect(yield* planned({ ...files(links), "shop/conf": { link: "../outside" } })).toBe(
        out("conf", "").replace("/outside/", "/outside")
      )
      expect(yield* planned({ ...files({}), "shop/image.tar": { link: "../outside/secret" } }))
        .toBe(out("image.tar", "secret"))
    }))

  it.scoped("follows links within the project, and others where container.json allows it", () =>
    Effect.gen(function*() {
      const within = { ...files({ files: ["now"] }), "shop/v1/a": "a", "shop/now": { link: "v1" } }
      expect(yield* planned(within)).toEqual(["compose.yml", "now/a"])
      const allowed = {
        ...files({ files: ["etc"], allowLinks: true }),
        "shop/.env": { link: "../outside/secret" },
        "shop/etc": { link: "../outside/folder" },
        "shop/image.tar": { link: "../outside/secret" }
      }
      expect(yield* planned(allowed)).toEqual(["compose.yml", ".env", "etc/key", "image.tar"])
    }))

  /** A project with so many more files, and how many of all files are looked at. */
  const crowded = (more: number, config: object) =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, { ...files(config), "shop/image.tar": "x", "shop/uploads/a": "a" })
      const live = yield* LocalFiles
      const crowd = Array.from({ length: more }, (_, index): LocalName => ({ name: `${index}.jpg`, kind: "file" }))
      let looks = 0
      const counted = LocalFiles.of({
        ...Struct.omit(live, "list"),
        list: () => Effect.die("all files are looked at"),
        names: (path) => Effect.map(live.names(path), (names) => [...names, ...crowd]),
        find: (path) => Effect.zipRight(Effect.sync(() => looks += 1), live.find(path))
      })
      const directory = join(root, "shop")
      const [project, plan] = yield* Effect.all([inspectProject(directory), Effect.either(planDeploy(directory))]).pipe(
        Effect.provideService(LocalFiles, counted)
      )
      return { project, plan, looks, directory }
    }).pipe(Effect.provide(local))

  it.scoped("is found without a look at each of 100,000 files", () =>
    Effect.gen(function*() {
      const { looks, plan, project } = yield* crowded(100_000, {})
      expect(project).toMatchObject({ hasComposeFile: true, tarFile: "image.tar" })
      expect(plan._tag).toBe("Right")
      expect(looks).toBeLessThan(20)
    }))

  it.scoped("is refused where a directory holds too many files, before they are looked at", () =>
    Effect.gen(function*() {
      const { directory, looks, plan } = yield* crowded(100_000, { files: ["uploads"] })
      expect(plan._tag === "Left" && plan.left.message).toBe(
        `${join(directory, "uploads")} has more than 10000 files to deploy`
      )
      expect(looks).toBeLessThan(20)
    }))
})
