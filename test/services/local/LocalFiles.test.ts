import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Stream, TestServices } from "effect"
import { LocalFiles, LocalFilesLive, privateFile } from "../../../src/services/local/LocalFiles.ts"

const windows = process.platform === "win32"

/** A directory of its own for one test, and the services to look into it. */
const workshop = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "berth-files-" })
  return { fs, files: yield* LocalFiles, directory, at: (...names: Array<string>) => path.join(directory, ...names) }
})

const bytes = (text: string) => new TextEncoder().encode(text)
const modeOf = (fs: FileSystem.FileSystem, file: string) =>
  Effect.map(fs.stat(file), (info) => (info.mode & 0o777).toString(8))

describe("LocalFilesLive", () => {
  layer(LocalFilesLive.pipe(Layer.provideMerge(NodeContext.layer)))((it) => {
    it.scoped("finds what is there, and nothing where nothing is", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        yield* fs.writeFileString(at("a.txt"), "hello", { mode: 0o600 })
        const found = Option.getOrThrow(yield* files.find(at("a.txt")))
        expect(found).toMatchObject({ name: "a.txt", kind: "file", size: 5 })
        if (!windows) expect(found.mode).toBe(0o600)
        expect(Math.abs(Date.now() - found.modified)).toBeLessThan(60_000)
        expect(yield* files.find(at("nothing"))).toEqual(Option.none())
        expect(yield* files.find(at("a.txt", "below"))).toEqual(Option.none())
        yield* fs.symlink(at("nothing"), at("dangling"))
        expect(yield* files.find(at("dangling"))).toEqual(Option.none())
      }))

    it.scoped("makes the directory of a private file, for its owner alone, also once it was removed", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        const writes = {
          write: (file: string) => files.write(file, "secret", privateFile),
          save: (file: string) => Effect.asVoid(files.save(file, Stream.make(bytes("secret")), privateFile))
        }
        for (const [name, write] of Object.entries(writes)) {
          const directory = at(name, "config", "berth")
          for (let times = 0; times < 2; times++) {
            yield* write(at(name, "config", "berth", "berth.yaml"))
            if (!windows) {
              expect([name, yield* modeOf(fs, directory)]).toEqual([name, "700"])
              expect(yield* modeOf(fs, at(name, "config", "berth", "berth.yaml"))).toBe("600")
            }
            yield* fs.remove(at(name), { recursive: true })
          }
          // Other files are not written where nobody made a directory.
          expect((yield* Effect.flip(files.write(at(name, "a"), "x"))).message).toContain("no such file or directory")
          yield* fs.writeFileString(at(name), "")
          expect((yield* Effect.flip(write(at(name, "b")))).message).toContain("not a directory")
        }
      }))

    it.scoped("reads no file of gigabytes as a whole", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        yield* fs.writeFileString(at("sparse"), "[]")
        yield* fs.truncate(at("sparse"), 1_900_000_000)
        expect((yield* Effect.flip(files.read(at("sparse")))).message).toContain("is larger than 32768 KiB")
      }))

    it.scoped("tells what names stand for without looking at each", () =>
      Effect.gen(function*() {
        const { at, directory, files, fs } = yield* workshop
        yield* fs.makeDirectory(at("b"))
        yield* fs.writeFileString(at("c"), "x")
        yield* fs.symlink(at("c"), at("a"))
        expect((yield* files.names(directory)).map(({ kind, name }) => [name, kind])).toEqual([
          ["a", "link"],
          ["b", "directory"],
          ["c", "file"]
        ])
      }))

    it.scoped("lists by name and reports links as links", () =>
      Effect.gen(function*() {
        const { at, directory, files, fs } = yield* workshop
        yield* fs.makeDirectory(at("b"))
        yield* fs.writeFileString(at("c"), "x")
        yield* fs.symlink(at("c"), at("a"))
        yield* fs.symlink(at("gone"), at("d"))
        const entries = yield* files.list(directory)
        expect(entries.map(({ kind, name }) => [name, kind])).toEqual([
          ["a", "link"],
          ["b", "directory"],
          ["c", "file"],
          ["d", "link"]
        ])
      }))

    it.scoped("names the path and the reason when it fails", () =>
      Effect.gen(function*() {
        const { at, files } = yield* workshop
        const missing = at("nothing")
        const failures = yield* Effect.all([
          files.list(missing),
          files.read(missing),
          files.realPath(missing),
          files.sha256(missing),
          files.write(at("nothing", "below"), "x"),
          files.save(at("nothing", "below"), Stream.empty)
        ].map((effect) => Effect.flip(Effect.asVoid(effect))))
        for (const failure of failures) {
          expect(failure.message).toMatch(/nothing(.below)?: no such file or directory$/)
          expect(failure.status).toBe(500)
        }
      }))

    it.scoped("fails in words for a path with a NUL", () =>
      Effect.gen(function*() {
        const { files } = yield* workshop
        const failure = yield* Effect.flip(files.find("/a\0b"))
        expect(failure.reason).toBe("this is not a valid path")
        expect((yield* Effect.exit(files.list("/a\0b")))._tag).toBe("Failure")
      }))

    it.scoped("reads, streams and hashes the same bytes", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        const content = new Uint8Array(600_000).map((_, index) => index * 7)
        yield* fs.writeFile(at("big"), content)
        expect(Buffer.from(yield* files.read(at("big"))).equals(content)).toBe(true)
        const chunks = [...yield* Stream.runCollect(files.stream(at("big")))]
        expect(chunks.map((chunk) => chunk.length)).toEqual([262_144, 262_144, 75_712])
        expect(Buffer.concat(chunks).equals(content)).toBe(true)
        yield* fs.writeFileString(at("abc"), "abc")
        expect(yield* files.sha256(at("abc"))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      }))

    it.scoped("creates and replaces files whole, with their permissions", () =>
      Effect.gen(function*() {
        const { at, directory, files, fs } = yield* workshop
        yield* files.write(at("new"), "")
        expect(yield* fs.readFileString(at("new"))).toBe("")
        yield* files.write(at("secret"), "one", { mode: 0o600 })
        yield* files.write(at("secret"), bytes("two"))
        yield* fs.writeFileString(at("script"), "x")
        yield* fs.chmod(at("script"), 0o777)
        yield* files.write(at("script"), "y")
        yield* files.write(at("closed"), "x")
        yield* files.write(at("closed"), "y", { mode: 0o600 })
        expect(yield* fs.readFileString(at("secret"))).toBe("two")
        expect((yield* fs.readDirectory(directory)).sort()).toEqual(["closed", "new", "script", "secret"])
        if (windows) return
        expect(yield* modeOf(fs, at("secret"))).toBe("600")
        expect(yield* modeOf(fs, at("script"))).toBe("777")
        expect(yield* modeOf(fs, at("closed"))).toBe("600")
      }))

    it.scoped("writes through links, even to a file that is not there yet", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        yield* fs.makeDirectory(at("real"))
        yield* fs.writeFileString(at("real", "one"), "old")
        yield* fs.symlink(at("real", "one"), at("one"))
        yield* fs.symlink("real/two", at("two"))
        yield* fs.symlink("loop", at("loop"))
        yield* files.write(at("one"), "new")
        yield* files.write(at("two"), "new")
        expect(yield* fs.readFileString(at("real", "one"))).toBe("new")
        expect(yield* fs.readFileString(at("real", "two"))).toBe("new")
        expect(yield* fs.readLink(at("one"))).toBe(at("real", "one"))
        expect(yield* fs.readLink(at("two"))).toBe("real/two")
        yield* Effect.exit(files.write(at("loop"), "new"))
      }))

    it.scoped("creates a file only when the name is free", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        expect(yield* files.create(at("a"), "one")).toBe(true)
        expect(yield* files.create(at("a"), "two")).toBe(false)
        yield* fs.symlink(at("elsewhere"), at("link"))
        expect(yield* files.create(at("link"), "two")).toBe(false)
        expect(yield* fs.readFileString(at("a"))).toBe("one")
        expect(yield* fs.exists(at("elsewhere"))).toBe(false)
        const answers = yield* Effect.all(
          Array.from({ length: 20 }, () => files.create(at("race"), "x")),
          { concurrency: "unbounded" }
        )
        expect(answers.filter((created) => created)).toHaveLength(1)
      }))

    it.scoped("streams a part of a file, and what there is of one beyond its end", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        yield* fs.writeFileString(at("a"), "0123456789")
        const part = (offset: number, length?: number) =>
          Effect.map(
            Stream.runCollect(files.stream(at("a"), length === undefined ? { offset } : { offset, bytes: length })),
            (chunks) => Buffer.concat([...chunks]).toString()
          )
        expect(yield* part(3, 4)).toBe("3456")
        expect(yield* part(0, 0)).toBe("")
        expect(yield* part(7)).toBe("789")
        expect(yield* part(8, 5)).toBe("89")
        expect(yield* part(20, 5)).toBe("")
      }))

    it.scoped("lends a file piece by piece, and uses the memory of each again", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        const content = Uint8Array.from({ length: 700_001 }, (_, index) => index % 251)
        yield* fs.writeFile(at("big"), content)
        const memory = new Set<ArrayBufferLike>()
        const lent = (range?: { readonly offset: number; readonly bytes?: number }) =>
          Stream.runFold(files.lend(at("big"), range), Buffer.alloc(0), (all, chunk) => {
            memory.add(chunk.buffer)
            return Buffer.concat([all, chunk])
          })
        expect((yield* lent()).equals(content)).toBe(true)
        expect(memory.size).toBe(2)
        expect((yield* lent({ offset: 300_000, bytes: 300_000 })).equals(content.subarray(300_000, 600_000))).toBe(true)
        expect((yield* lent({ offset: 700_000, bytes: 50 })).length).toBe(1)
        expect((yield* lent({ offset: 800_000 })).length).toBe(0)
        expect((yield* Effect.flip(Stream.runDrain(files.lend(at("none"))))).message).toMatch(/no such file/)
        expect((yield* Effect.flip(Stream.runDrain(files.lend(at(".."))))).message).toMatch(
          /: is not a regular file$/
        )
      }))

    it.scoped("saves a stream whole and tells its bytes", () =>
      Effect.gen(function*() {
        const { at, directory, files, fs } = yield* workshop
        const saved = yield* files.save(at("a"), Stream.make(bytes("one "), new Uint8Array(), bytes("two")))
        expect(saved).toBe(7)
        expect(yield* fs.readFileString(at("a"))).toBe("one two")
        expect(yield* fs.readDirectory(directory)).toEqual(["a"])
      }))

    it.scoped("leaves no part of a stream that fails or is interrupted, and what was there stays", () =>
      Effect.gen(function*() {
        const { at, directory, files, fs } = yield* workshop
        yield* fs.writeFileString(at("a"), "old")
        const failing = Stream.concat(Stream.make(bytes("new")), Stream.fail("the line broke"))
        expect(yield* Effect.flip(files.save(at("a"), failing))).toBe("the line broke")
        const hanging = Stream.concat(Stream.make(bytes("new")), Stream.never)
        const fiber = yield* Effect.fork(files.save(at("a"), hanging))
        yield* fs.readDirectory(directory).pipe(Effect.repeat({ until: (names) => names.length === 2 }))
        expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
        expect(yield* fs.readDirectory(directory)).toEqual(["a"])
        expect(yield* fs.readFileString(at("a"))).toBe("old")
      }))

    it.scoped("leaves no empty file when it is broken off between making and filling it", () =>
      Effect.gen(function*() {
        const { at, directory, fs } = yield* workshop
        const made = yield* Deferred.make<void>()
        const telling: typeof fs = {
          ...fs,
          open: (...words) =>
            Effect.tap(fs.open(...words), () => Effect.zipRight(Deferred.succeed(made, undefined), Effect.sleep(50)))
        }
        const creating = Effect.flatMap(LocalFiles, (files) => files.create(at("a"), "x")).pipe(
          Effect.provide(Layer.provide(LocalFilesLive, Layer.succeed(FileSystem.FileSystem, telling)))
        )
        const fiber = yield* Effect.fork(creating)
        yield* Deferred.await(made)
        expect(yield* fs.readDirectory(directory)).toEqual(["a"])
        expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
        expect(yield* fs.readDirectory(directory)).toEqual([])
      }).pipe(TestServices.provideLive))

    it.scoped("replaces a link at the path of a saved stream, and leaves its target alone", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        yield* fs.writeFileString(at("target"), "mine")
        yield* fs.symlink(at("target"), at("link"))
        yield* files.save(at("link"), Stream.make(bytes("theirs")))
        expect(yield* fs.readFileString(at("target"))).toBe("mine")
        expect(yield* fs.readFileString(at("link"))).toBe("theirs")
      }))

    it.scoped("saves under the longest names", () =>
      Effect.gen(function*() {
        const { at, files } = yield* workshop
        expect(yield* files.save(at("n".repeat(255)), Stream.make(bytes("x")))).toBe(1)
      }))

    it.scoped("makes directories and removes", () =>
      Effect.gen(function*() {
        const { at, files, fs } = yield* workshop
        yield* files.makeDirectory(at("a", "b"))
        yield* files.makeDirectory(at("a", "b"))
        yield* files.write(at("a", "b", "c"), "x")
        yield* fs.symlink(at("a"), at("link"))
        yield* files.remove(at("link"))
        expect(yield* fs.exists(at("a", "b", "c"))).toBe(true)
        yield* files.remove(at("a"))
        yield* files.remove(at("a"))
        expect(yield* fs.exists(at("a"))).toBe(false)
      }))

    it.scoped("makes private directories that nobody else has", () =>
      Effect.gen(function*() {
        const { files, fs } = yield* workshop
        const made = yield* files.temporaryDirectory("berth-test-")
        yield* Effect.addFinalizer(() => Effect.ignore(files.remove(made)))
        expect(yield* files.list(made)).toEqual([])
        if (!windows) expect(yield* modeOf(fs, made)).toBe("700")
      }))
  })
})
