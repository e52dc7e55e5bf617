import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Ref, Stream } from "effect"
import { readdir, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { editorDiff } from "../../../src/pipelines/textDiffs.ts"
import { LocalFilesLive } from "../../../src/services/local/LocalFiles.ts"
import { type LocalCommand, LocalProcesses, LocalProcessesLive } from "../../../src/services/local/LocalProcesses.ts"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { type SettingsFixture, settingsTest, storedServer } from "../../../src/testing/SettingsTest.ts"
import { sftpTest } from "../../../src/testing/SshTest.ts"
import { plant, temporaryDirectory } from "../../layers/temporary.ts"

const server = storedServer()
const files = Layer.provideMerge(LocalFilesLive, NodeContext.layer)
const remote = {
  "/home/deployer/containers/app/compose.yml": "remote text",
  "/srv/dir/x": "x",
  "/srv/it's $(touch RAN) \"odd\"": "odd",
  "/srv/..\\x": "x"
}

const diff = (localPath: string, remoteFilePath: string, settings: SettingsFixture = {}) =>
  Effect.gen(function*() {
    const launched = yield* Ref.make<ReadonlyArray<Pick<LocalCommand, "program" | "args">>>([])
    const processes = Layer.mock(LocalProcesses, {
      launch: (command) => Ref.update(launched, (all) => [...all, command])
    })
    const result = yield* editorDiff({ serverId: "1", localPath, remoteFilePath }).pipe(
      Effect.provide([files, processes, settingsTest(settings, [server]), sftpTest(remote)])
    )
    yield* Effect.addFinalizer(() => Effect.promise(() => rm(dirname(result.remoteCopy), { recursive: true })))
    return { ...result, launched: yield* Ref.get(launched) }
  })

const copies = Effect.promise(async () => (await readdir(tmpdir())).filter((name) => name.startsWith("berth-diff-")))

describe("editorDiff", () => {
  it.scoped("opens the editor on a private copy under the file's own name, and the local file", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, { "compose.yml": "local text" })
      const local = join(root, "compose.yml")
      const { launched, ...result } = yield* diff(join(root, "x", "..", "compose.yml"), "~/containers/app//compose.yml")
      expect(result).toEqual({ success: true, localPath: local, remoteCopy: expect.any(String) })
      expect(basename(result.remoteCopy)).toBe("compose.yml")
      expect(yield* Effect.promise(() => readFile(result.remoteCopy, "utf8"))).toBe("remote text")
      if (process.platform !== "win32") {
        const { mode } = yield* Effect.promise(() => stat(dirname(result.remoteCopy)))
        expect(mode & 0o077).toBe(0)
      }
      expect(launched).toEqual([{ program: "code", args: ["--diff", result.remoteCopy, local] }])
    }))

  it.scoped("hands odd names to the configured editor as they are", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, { "a; b": "" })
      const { launched, remoteCopy } = yield* diff(join(root, "a; b"), "/srv/it's $(touch RAN) \"odd\"", {
        "editor.command": ["meld", "--newtab", "-o"]
      })
      expect(launched).toEqual([{ program: "meld", args: ["--newtab", "-o", remoteCopy, join(root, "a; b")] }])
      expect(basename(remoteCopy)).toBe("it's $(touch RAN) \"odd\"")
    }))

  it.scoped("turns down what is not a regular file, on either side, and leaves no copy", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, { "a": "" })
      const failing = [
        ["a", "/srv/dir/x", 400, "localPath"],
        [join(root, "none"), "/srv/dir/x", 400, "none\" does not exist"],
        [root, "/srv/dir/x", 400, "is not a regular file"],
        [join(root, "a"), "/srv/dir", 400, "/srv/dir"],
        [join(root, "a"), "/srv/..\\x", 400, "..\\\\x"],
        [join(root, "a"), "/srv/none", 502, "/srv/none"]
      ] as const
      for (const [local, path, status, words] of failing) {
        const error = yield* Effect.flip(diff(local, path))
        expect(error.status).toBe(status)
        expect(error.message).toContain(words)
      }
    }))

  it.scoped("does not fill the disk with a file that has no end", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, { "a": "" })
      const endless = Layer.succeed(
        Sftp,
        Sftp.of({
          session: () =>
            Effect.succeed({
              stat: () => Effect.succeed({ name: "zero", kind: "link", size: 9 }),
              list: () => Stream.empty,
              read: () => Stream.forever(Stream.make(new Uint8Array(1024 * 1024))),
              writePrivate: () => Effect.void
            })
        })
      )
      const error = yield* Effect.flip(
        editorDiff({ serverId: "1", localPath: join(root, "a"), remoteFilePath: "/srv/zero" }).pipe(
          Effect.provide([files, Layer.mock(LocalProcesses, {}), settingsTest({}, [server]), endless])
        )
      )
      expect(error.message).toContain("larger than 64 MiB")
    }))

  it.scoped("names an editor that is not installed, and cleans up", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, { "compose.yml": "" })
      const before = yield* copies
      const settings = settingsTest({ "editor.command": ["berth-no-such-editor", "--diff"] }, [server])
      const error = yield* Effect.flip(
        editorDiff({
          serverId: "1",
          localPath: join(root, "compose.yml"),
          remoteFilePath: "~/containers/app/compose.yml"
        }).pipe(Effect.provide([files, LocalProcessesLive, settings, sftpTest(remote)]))
      )
      expect(error).toMatchObject({ _tag: "ProgramNotFound", status: 500 })
      expect(error.message).toMatch(/^Cannot run berth-no-such-editor: .*\. The setting editor\.command names it$/)
      expect((yield* copies).filter((name) => !before.includes(name))).toEqual([])
    }))

  it.effect("wants a known server first", () =>
    Effect.gen(function*() {
      const asked = { serverId: "2", localPath: "x", remoteFilePath: "/srv/x" }
      expect((yield* Effect.flip(editorDiff(asked))).status).toBe(404)
    }).pipe(Effect.provide([files, LocalProcessesLive, settingsTest(), sftpTest()])))
})
