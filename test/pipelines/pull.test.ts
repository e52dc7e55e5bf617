import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { pull } from "../../src/pipelines/pull.ts"
import type { PullItem } from "../../src/schema/compare.ts"
import { RemoteFileFailed, ServerUnreachable } from "../../src/schema/ssh.ts"
import { LocalFilesLive } from "../../src/services/local/LocalFiles.ts"
import { Runs } from "../../src/services/runs/Runs.ts"
import { type RemoteEntry, Sftp } from "../../src/services/ssh/Sftp.ts"
import { runsTest } from "../../src/testing/RunsTest.ts"
import { settingsTest, storedServer } from "../../src/testing/SettingsTest.ts"
import { type RemoteFixture, sftpTest } from "../../src/testing/SshTest.ts"
import { liveHeap } from "../fixtures/programs/heap.ts"
import { inTurn } from "../fixtures/thorough.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const server = storedServer()
const local = Layer.mergeAll(
  Layer.provideMerge(LocalFilesLive, NodeContext.layer),
  settingsTest({}, [server]),
  Layer.provide(runsTest, settingsTest())
)
const here = { server: "Main", host: "127.0.0.1", port: 22 }

const pulled = (remote: { readonly [path: string]: RemoteFixture }, files: ReadonlyArray<PullItem>) =>
  pull({ serverId: "1", files }).pipe(Effect.provide([local, sftpTest(remote)]))

const item = (localPath: string, remotePath: string, type: PullItem["type"] = "directory"): PullItem => ({
  name: `item ${remotePath}`,
  remotePath,
  localPath,
  type
})

const treeOf = (directory: string) => Effect.promise(async () => (await readdir(directory, { recursive: true })).sort())
const textAt = (path: string) => Effect.promise(() => readFile(path, "utf8"))

describe("pull", () => {
  it.scoped("tells the bytes of all its items as its progress", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      const files = [item(join(root, "one"), "/srv/one.txt", "file"), item(join(root, "data"), "/srv/data")]
      yield* pull({ serverId: "1", files })
      const { runs: [run] } = yield* (yield* Runs).list({ kind: "pull", limit: 1 })
      expect(run?.steps.map(({ progress }) => progress)).toEqual([{ done: 17, total: 17, unit: "bytes" }])
    }).pipe(Effect.provide([
      local,
      sftpTest({ "/srv/one.txt": "twelve bytes", "/srv/data/a.txt": "aa", "/srv/data/deep/b.txt": "bbb" })
    ])))

  it.scoped("ends where files send more than 64 MiB together beyond what was announced, and leaves no part of one", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      const megabytes = (count: number) =>
        Stream.repeatEffect(Effect.succeed(new Uint8Array(1024 ** 2))).pipe(Stream.take(count))
      const entries: ReadonlyArray<RemoteEntry> = [
        ...Array.from({ length: 3 }, (_, at): RemoteEntry => ({ name: `${at}`, kind: "file", size: 0 })),
        { name: "told", kind: "file", size: 80 * 1024 ** 2 }
      ]
      const sftpOf = (each: number) =>
        Layer.succeed(Sftp, {
          session: () =>
            Effect.succeed({
              stat: (path) =>
                Effect.succeed<RemoteEntry>(
                  path.endsWith("data")
                    ? { name: "data", kind: "directory", size: 0 }
                    : { name: "one", kind: "file", size: 5 }
                ),
              list: () => Stream.fromIterable(entries),
              read: (path) => megabytes(path.endsWith("told") ? 80 : path.endsWith("one") ? each * 3 : each),
              writePrivate: () => Effect.void
            })
        })
      const wanted = [item(join(root, "data"), "/srv/data"), item(join(root, "one"), "/srv/one", "file")]
      const pullWith = (each: number) =>
        pull({ serverId: "1", files: wanted }).pipe(Effect.provide([local, sftpOf(each)]))
      const { errors, pulled: brought } = yield* pullWith(30)
      expect(brought).toEqual([])
      expect(errors.map(({ error }) => error)).toEqual(
        ["/srv/data", "/srv/one"].map((path) =>
          expect.stringContaining(`${path}: the server sends more than 64 MiB beyond the sizes that it announced`)
        )
      )
      // The files that had come before stay, whole.
      expect((yield* treeOf(root)).filter((name) => !/^data(\/\d|\/told)?$/.test(name))).toEqual([])
      // A file may be as long as announced, and grow a little.
      expect((yield* pullWith(20)).errors).toEqual([])
    }))

  it.scoped("asks for no byte of what the local disk cannot hold", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      let reads = 0
      const size = 2 ** 60
      const boasting = Layer.succeed(Sftp, {
        session: () =>
          Effect.succeed({
            stat: (path) =>
              Effect.succeed<RemoteEntry>({ name: "x", kind: path === "/one" ? "file" : "directory", size }),
            list: () => Stream.make<[RemoteEntry]>({ name: "big", kind: "file", size }),
            read: () => Stream.sync(() => new Uint8Array(++reads)),
            writePrivate: () => Effect.void
          })
      })
      const wanted = [item(join(root, "new", "one"), "/one", "file"), item(join(root, "data"), "/data")]
      const { errors } = yield* pull({ serverId: "1", files: wanted }).pipe(Effect.provide([local, boasting]))
      expect(errors.map(({ error }) => error)).toEqual(
        ["/one", "/data"].map((path) =>
          expect.stringMatching(new RegExp(`^${path}: has .* free. Nothing of it was pulled`))
        )
      )
      expect(reads).toBe(0)
      expect(yield* treeOf(root)).toEqual([])
    }))

  it.scoped("brings files and whole directories, and counts them", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      const result = yield* pulled({
        "/home/deployer/containers/app/compose.yml": "services: {}",
        "/srv/data/a.txt": "aa",
        "/srv/data/deep/er/b.txt": "bbb",
        "/srv/data/empty": { directory: true }
      }, [
        item(join(root, "new", "compose.yml"), "~/containers//app/compose.yml", "file"),
        item(join(root, "data"), "/srv/data/")
      ])
      expect(result).toEqual({
        pulled: [
          {
            name: "item ~/containers//app/compose.yml",
            localPath: join(root, "new", "compose.yml"),
            files: 1,
            bytes: 12
          },
          { name: "item /srv/data/", localPath: join(root, "data"), files: 2, bytes: 5 }
        ],
        errors: []
      })
      expect(yield* treeOf(root)).toEqual(
        [
          "data",
          "data/a.txt",
          "data/deep",
          "data/deep/er",
          "data/deep/er/b.txt",
          "data/empty",
          "new",
          "new/compose.yml"
        ]
          .map((path) => join(...path.split("/")))
      )
      expect(yield* textAt(join(root, "data", "deep", "er", "b.txt"))).toBe("bbb")
    }))

  it.scoped("follows no link and takes no special file", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      const remote = {
        "/srv/data/a": "a",
        "/srv/data/link": { link: "/etc" },
        "/srv/link": { link: "/srv/data" },
        "/srv/file-link": { link: "/srv/data/a" }
      }
      const result = yield* pulled(remote, [
        item(join(root, "data"), "/srv/data"),
        item(join(root, "link"), "/srv/link"),
        item(join(root, "file"), "/srv/file-link", "file")
      ])
      expect(result.pulled).toMatchObject([{ files: 1 }])
      expect(result.errors).toEqual([
        { name: "item /srv/link", error: expect.stringContaining("links are not followed") },
        { name: "item /srv/file-link", error: expect.stringContaining("links are not followed") }
      ])
      expect(yield* treeOf(root)).toEqual(["data", join("data", "a")])
    }))

  it.scoped.skipIf(process.platform === "win32")(
    "keeps env files for their owner's eyes",
    () =>
      Effect.gen(function*() {
        const root = yield* temporaryDirectory
        yield* pulled({ "/srv/.env": "A=1", "/srv/data/web.env": "B=1", "/srv/data/plain": "" }, [
          item(join(root, "env"), "/srv/.env", "file"),
          item(join(root, "data"), "/srv/data")
        ])
        const modeAt = (...names: ReadonlyArray<string>) =>
          Effect.promise(async () => (await stat(join(root, ...names))).mode & 0o077)
        expect(yield* modeAt("env")).toBe(0)
        expect(yield* modeAt("data", "web.env")).toBe(0)
        expect(yield* modeAt("data", "plain")).not.toBe(0)
      })
  )

  it.scoped("says what is missing, or another kind of thing, and brings the rest", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      const result = yield* pulled({ "/srv/file": "x", "/srv/dir/y": "y" }, [
        item(join(root, "1"), "/srv/none", "file"),
        item(join(root, "2"), "/srv/file", "directory"),
        item(join(root, "3"), "/srv/dir", "file"),
        item(join(root, "4"), "/srv/file", "file")
      ])
      expect(result.errors.map(({ error }) => error)).toEqual([
        expect.stringContaining("no such file"),
        expect.stringContaining("is a file, not a directory"),
        expect.stringContaining("is a directory, not a file")
      ])
      expect(result.pulled).toMatchObject([{ name: "item /srv/file", bytes: 1 }])
      expect(yield* treeOf(root)).toEqual(["4"])
    }))

  it.scoped("does not write through a link that is in the way on this machine", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      yield* plant(root, {
        "outside": { directory: true },
        "data/Sub": { link: "../outside" },
        "data/a": { link: "../stolen" }
      })
      const result = yield* pulled({ "/srv/data/sub/evil": "x", "/srv/data/a": "a" }, [
        item(join(root, "data"), "/srv/data")
      ])
      expect(result.errors[0]?.error).toContain("is a link on this machine")
      expect(yield* treeOf(join(root, "outside"))).toEqual([])
      const files = yield* pulled({ "/srv/data/a": "a" }, [item(join(root, "data"), "/srv/data")])
      expect(files.errors).toEqual([])
      expect(yield* textAt(join(root, "data", "a"))).toBe("a")
      expect(yield* treeOf(root)).not.toContain("stolen")
    }))

  describe("from a hostile or failing server", () => {
    const listing = (
      list: (path: string) => Stream.Stream<RemoteEntry>,
      content: Stream.Stream<Uint8Array, RemoteFileFailed>
    ) =>
      Layer.succeed(
        Sftp,
        Sftp.of({
          session: () =>
            Effect.succeed({
              stat: (path) =>
                Effect.succeed({ name: "x", kind: path.endsWith("file") ? "file" : "directory", size: 4096 }),
              list,
              read: () => content,
              writePrivate: () => Effect.die("not here")
            })
        })
      )
    const session = (entries: ReadonlyArray<RemoteEntry>, content: Stream.Stream<Uint8Array, RemoteFileFailed>) =>
      listing((path) => path === "/srv" ? Stream.fromIterable(entries) : Stream.empty, content)

    const directory = (name: string): RemoteEntry => ({ name, kind: "directory", size: 4096 })
    const endless = [
      [
        "files",
        () => Stream.range(1, 10 ** 9).pipe(Stream.map((n): RemoteEntry => ({ name: `${n}`, kind: "file", size: 1 }))),
        "more than 200000 files"
      ],
      [
        "links",
        () => Stream.range(1, 10 ** 9).pipe(Stream.map((n): RemoteEntry => ({ name: `${n}`, kind: "link", size: 1 }))),
        "more than 200000 files"
      ],
      [
        "directories in each directory",
        () => Stream.range(1, 1_000).pipe(Stream.map((n) => directory(`${n}`))),
        "more than 200000 files"
      ],
      ["levels", () => Stream.make(directory("a")), "more than 100 directories deep"],
      [
        "long names",
        () => Stream.range(1, 10 ** 9).pipe(Stream.map((n) => directory(`${n}${"x".repeat(4_000)}`))),
        "more than 32 MiB"
      ]
    ] as const
    it.scoped.each(inTurn(endless, 0))(
      "refuses endless %s, within bounded memory",
      ([_what, list, words]) =>
        Effect.gen(function*() {
          const root = join(yield* temporaryDirectory, "deep")
          const before = yield* liveHeap
          const result = yield* pull({ serverId: "1", files: [item(join(root, "data"), "/srv")] }).pipe(
            Effect.provide([local, listing(list, Stream.empty)])
          )
          expect(result.errors[0]?.error).toMatch(/^\/srv: .*: pull parts of it$/)
          expect(result.errors[0]?.error).toContain(words)
          expect((yield* liveHeap) - before).toBeLessThan(64 * 1024 * 1024)
          expect(yield* treeOf(join(root, ".."))).toEqual([])
        })
    )

    it.scoped.each(["..\\x", "../x", "..", "/etc/x", "C:x", "a\\b", ""])(
      "refuses the name %j and writes nothing",
      (name) =>
        Effect.gen(function*() {
          const root = join(yield* temporaryDirectory, "deep")
          const entries: ReadonlyArray<RemoteEntry> = [
            { name: "good", kind: "file", size: 1 },
            { name, kind: "file", size: 1 }
          ]
          const result = yield* pull({ serverId: "1", files: [item(join(root, "data"), "/srv")] }).pipe(
            Effect.provide([local, session(entries, Stream.make(new Uint8Array([1])))])
          )
          expect(result.pulled).toEqual([])
          expect(result.errors[0]?.error).toContain(JSON.stringify(name))
          expect(yield* treeOf(join(root, ".."))).toEqual([])
        })
    )

    it.scoped("shows no password that it names", () =>
      Effect.gen(function*() {
        const root = yield* temporaryDirectory
        const known = settingsTest({}, [{ ...server, credentials: { password: Redacted.make("pass-word") } }])
        const { errors } = yield* pull({ serverId: "1", files: [item(join(root, "data"), "/srv")] }).pipe(
          Effect.provide(session([{ name: "../pass-word", kind: "file", size: 1 }], Stream.empty)),
          Effect.provide(Layer.merge(local, known))
        )
        expect(errors).toEqual([{ name: "item /srv", error: expect.stringContaining("../***") }])
      }))

    it.scoped("leaves no part of a file that breaks off, and the file that was there before", () =>
      Effect.gen(function*() {
        const root = yield* temporaryDirectory
        yield* plant(root, { "old": "before" })
        const broken = Stream.concat(
          Stream.make(new Uint8Array(1000)),
          Stream.fail(new RemoteFileFailed({ ...here, path: "/srv/file", reason: "permission denied" }))
        )
        const result = yield* pull({
          serverId: "1",
          files: [item(join(root, "old"), "/srv/file", "file"), item(join(root, "new"), "/srv/file", "file")]
        }).pipe(Effect.provide([local, session([], broken)]))
        expect(result.errors).toHaveLength(2)
        expect(yield* treeOf(root)).toEqual(["old"])
        expect(yield* textAt(join(root, "old"))).toBe("before")
      }))

    it.scoped("fails as a whole where it cannot be reached", () =>
      Effect.gen(function*() {
        const root = yield* temporaryDirectory
        const dead = Layer.succeed(
          Sftp,
          Sftp.of({ session: () => new ServerUnreachable({ ...here, reason: "connection refused" }) })
        )
        const error = yield* Effect.flip(
          pull({ serverId: "1", files: [item(join(root, "x"), "/srv/file", "file")] }).pipe(
            Effect.provide([local, dead])
          )
        )
        expect(error).toMatchObject({ _tag: "ServerUnreachable", status: 502 })
      }))
  })

  it.scopedLive("is one at a time from a server, whose channels are few", () =>
    Effect.gen(function*() {
      const root = yield* temporaryDirectory
      const open = { now: 0, most: 0 }
      const counted = Layer.effect(
        Sftp,
        Effect.map(Sftp, (sftp) =>
          Sftp.of({
            session: (server) =>
              Effect.acquireRelease(
                Effect.sync(() => void (open.most = Math.max(open.most, ++open.now))),
                () => Effect.sync(() => void open.now--)
              ).pipe(Effect.zipRight(Effect.sleep("20 millis")), Effect.zipRight(sftp.session(server)))
          }))
      ).pipe(Layer.provide(sftpTest({ "/srv/file": "a" })))
      const results = yield* Effect.forEach(
        ["a", "b", "c", "d"],
        (name) => pull({ serverId: "1", files: [item(join(root, name), "/srv/file", "file")] }),
        { concurrency: "unbounded" }
      ).pipe(Effect.provide([local, counted]))
      expect(results.map(({ pulled }) => pulled.length)).toEqual([1, 1, 1, 1])
      expect(open).toEqual({ now: 0, most: 1 })
    }))

  it.effect("wants a known server first, and absolute local paths", () =>
    Effect.gen(function*() {
      const relative = { serverId: "1", files: [item("/tmp/x", "/srv/a"), item("x", "/srv/a")] }
      expect(yield* Effect.flip(pull({ ...relative, serverId: "2" }))).toMatchObject({ status: 404 })
      const error = yield* Effect.flip(pull(relative))
      expect(error.status).toBe(400)
      expect(error.message).toContain("files[1].localPath")
    }).pipe(Effect.provide([local, sftpTest()])))
})
