import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { join } from "node:path"
import { compare } from "../../src/pipelines/compare.ts"
import { inventoryCommand } from "../../src/remote/compare.ts"
import { LocalFilesLive } from "../../src/services/local/LocalFiles.ts"
import { type RemoteCommand, Ssh } from "../../src/services/ssh/Ssh.ts"
import { settingsTest, storedServer } from "../../src/testing/SettingsTest.ts"
import { sshTest } from "../../src/testing/SshTest.ts"
import { remoteHere, shells } from "../layers/RemoteHere.ts"
import { plant, type Planted, temporaryDirectory } from "../layers/temporary.ts"

const server = storedServer()
const local = Layer.provideMerge(LocalFilesLive, NodeContext.layer)

interface Sides {
  readonly local: { readonly [path: string]: Planted }
  readonly remote: { readonly [path: string]: Planted }
}

describe.each(shells)("compare with a server of $name", (shell) => {
  const compared = (sides: Sides) =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const projectPath = join(home, "projects", "app")
      yield* plant(projectPath, { "Dockerfile": "", ...sides.local })
      yield* plant(join(home, "containers", "app"), sides.remote)
      const seen: Array<RemoteCommand> = []
      const result = yield* compare({ projectPath, serverId: "1", remotePath: "~/containers//app/" }).pipe(
        Effect.provide([
          local,
          settingsTest({ "platform.token": Redacted.make("pass-word") }, [server]),
          remoteHere({ shell, home, seen })
        ])
      )
      return { ...result, calls: seen.length, home }
    })

  it.scoped("finds a copy that is the same, in one command", () =>
    Effect.gen(function*() {
      const files = {
        "compose.yml": "services:\n  web:\n    image: a\n    env_file: web.env\n",
        ".env": "A=1",
        "web.env": "B=1",
        "data/deep/x.bin": new Uint8Array([0, 255, 1]),
        "conf/a.conf": "a",
        "one.txt": "1"
      }
      const result = yield* compared({
        local: { ...files, "container.json": JSON.stringify({ files: ["conf", "./one.txt"] }) },
        remote: { ...files, "other.tar": "not compared" }
      })
      expect(result.files.map(({ name, status }) => [name, status])).toEqual(
        [".env", "compose.yml", "conf/a.conf", "data/deep/x.bin", "one.txt", "web.env"].map((name) => [name, "same"])
      )
      expect(result).toMatchObject({
        projectPath: join(result.home, "projects", "app"),
        serverId: "1",
        remotePath: "~/containers/app",
        summary: { "same": 6, "different": 0, "local-only": 0, "remote-only": 0 },
        warnings: [],
        calls: 1
      })
      expect(result.files[0]).toEqual({ name: ".env", status: "same", localSize: 3, remoteSize: 3 })
    }))

  it.scoped("tells each kind of difference, and shows those of texts", () =>
    Effect.gen(function*() {
      const result = yield* compared({
        local: {
          "compose.yml": "services: {}\n# new\n",
          "data/only here": "x",
          "data/same size": "abc",
          "data/binary": new Uint8Array([1, 0, 2]),
          "data/link": { link: "/etc/passwd" },
          "data/big": "x".repeat(300_000)
        },
        remote: {
          "compose.yml": "services: {}\n",
          "docker-compose.yml": "older",
          "data/only\nthere": "y",
          "data/same size": "abd",
          "data/binary": new Uint8Array([1, 0, 3]),
          "data/big": "y".repeat(300_000)
        }
      })
      expect(result.files).toEqual([
        {
          name: "compose.yml",
          status: "different",
          localSize: 19,
          remoteSize: 13,
          diff: "--- remote/compose.yml\n+++ local/compose.yml\n@@ -1,1 +1,2 @@\n services: {}\n+# new\n"
        },
        { name: "data/big", status: "different", localSize: 300_000, remoteSize: 300_000 },
        { name: "data/binary", status: "different", localSize: 3, remoteSize: 3 },
        { name: "data/only\nthere", status: "remote-only", localSize: null, remoteSize: 1 },
        { name: "data/only here", status: "local-only", localSize: 1, remoteSize: null },
        { name: "data/same size", status: "different", localSize: 3, remoteSize: 3 },
        { name: "docker-compose.yml", status: "remote-only", localSize: null, remoteSize: 5 }
      ])
      expect(result.summary).toEqual({ "same": 0, "different": 4, "local-only": 1, "remote-only": 2 })
      expect(result.calls).toBe(2)
    }))

  const outside = {
    "../outside/secret": "A=1",
    "../outside/folder/key": "secret",
    "../outside/web.yml": "services: {}"
  }
  const links = {
    ".env": { link: "../outside/secret" },
    "compose.yml": { link: "../outside/web.yml" },
    "data": { link: "../outside/folder" },
    "own": { link: "data-here" },
    "data-here/x": "x"
  }
  const deployed = { ".env": "A=2", "compose.yml": "services: {}", "data/key": "public", "own/x": "x" }

  it.scoped("follows no link out of the project, and names each", () =>
    Effect.gen(function*() {
      const result = yield* compared({
        local: { ...outside, ...links, "container.json": JSON.stringify({ files: ["own"] }) },
        remote: deployed
      })
      expect(result.files.map(({ name, status }) => [name, status])).toEqual([["own/x", "same"]])
      expect(result.warnings.map((warning) => warning.replaceAll(`${result.home}/projects`, "").split(".")[0]).sort())
        .toEqual(["/app/", "/app/compose", "/app/data is a link that leads out of the project, to /outside/folder"])
      expect(JSON.stringify(result)).not.toContain("secret\\n")
    }))

  it.scoped("follows them where container.json allows it", () =>
    Effect.gen(function*() {
      const config = JSON.stringify({ files: ["own"], allowLinks: true })
      const result = yield* compared({ local: { ...outside, ...links, "container.json": config }, remote: deployed })
      expect(result.files.map(({ name, status }) => [name, status])).toEqual([
        [".env", "different"],
        ["compose.yml", "same"],
        ["data/key", "different"],
        ["own/x", "same"]
      ])
      expect(result.warnings).toEqual([])
    }))

  it.scoped("tells of env files which variables differ, and nothing of their values", () =>
    Effect.gen(function*() {
      const result = yield* compared({
        local: {
          "compose.yml": "services: { web: { image: a, env_file: settings.txt } }",
          ".env": "SAME=1\nTOKEN=local-secret\nNEW=fresh-secret\n",
          "settings.txt": "KEY=local-secret\n",
          "data/app.env": "K=local-secret\n"
        },
        remote: {
          ".env": "SAME=1\nTOKEN=remote-secret\nOLD=stale-secret\n",
          "settings.txt": "KEY=remote-secret\n",
          "data/app.env": "K=remote-secret\n"
        }
      })
      expect(result.files.find(({ name }) => name === ".env")).toEqual({
        name: ".env",
        status: "different",
        localSize: 43,
        remoteSize: 44,
        keys: { different: ["TOKEN"], localOnly: ["NEW"], remoteOnly: ["OLD"] }
      })
      expect(JSON.stringify(result)).not.toContain("secret")
      expect(JSON.stringify(result)).not.toMatch(/[0-9a-f]{64}/)
    }))

  it.scoped.each(["data/notes.txt", "./data//deep/notes.txt"])(
    "compares %s by its hash alone, also where it is listed",
    (name) =>
      Effect.gen(function*() {
        const config = { "container.json": JSON.stringify({ files: [name, "conf"] }) }
        const files = (text: string) => ({ [name]: text, "conf/data/a.txt": text, "database.txt": text })
        const { calls, files: shown } = yield* compared({
          local: { ...config, ...files("ours") },
          remote: files("yours")
        })
        expect(shown.map((file) => [file.name, file.status, "diff" in file])).toEqual([
          ["conf/data/a.txt", "different", true],
          [name.replace("./data//", "data/"), "different", false]
        ])
        expect(calls).toBe(2)
      })
  )

  it.scoped("shows no secret in use in a diff", () =>
    Effect.gen(function*() {
      const { files } = yield* compared({
        local: { "compose.yml": "services: {}\n# pass-word here\n" },
        remote: { "compose.yml": "services: {}\n# pass-word there\n" }
      })
      expect(files[0]?.diff).toContain("+# *** here")
    }))

  it.scoped("has everything local only where nothing is deployed", () =>
    Effect.gen(function*() {
      const result = yield* compared({ local: { "compose.yml": "services: {}" }, remote: {} })
      expect(result.summary).toEqual({ "same": 0, "different": 0, "local-only": 1, "remote-only": 0 })
    }))

  it.scoped("turns down configured names that leave the project", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(compared({
        local: { "container.json": JSON.stringify({ files: ["../../etc/passwd"] }) },
        remote: {}
      }))
      expect(error).toMatchObject({ status: 422 })
      expect(error.message).toContain("../../etc/passwd")
    }))
})

describe("compare", () => {
  it.effect("looks for the server first", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(compare({ projectPath: "relative", serverId: "2", remotePath: "~/x" }))
      expect(error).toMatchObject({ _tag: "ServerNotFound", status: 404 })
    }).pipe(
      Effect.provide([local, settingsTest({}, [server]), Layer.mock(Ssh, {})])
    ))
})

it.scoped("a comparison shows no password that a warning of the server repeats", () =>
  Effect.gen(function*() {
    const projectPath = yield* temporaryDirectory
    const stderr = "find: 'data/pass-word': Permission denied\n"
    const stdout = "berth-files\0"
    const { warnings } = yield* compare({ projectPath, serverId: "1", remotePath: "~/containers/app" }).pipe(
      Effect.provide([
        local,
        settingsTest({}, [{ ...server, credentials: { password: Redacted.make("pass-word") } }]),
        sshTest({ [inventoryCommand("~/containers/app", [], false).what]: { stderr, stdout } })
      ])
    )
    expect(warnings).toEqual(["find: 'data/***': Permission denied"])
  }))
