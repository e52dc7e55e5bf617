import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { SFTPWrapper } from "ssh2"
import { Sftp } from "../../../src/services/ssh/Sftp.ts"
import { fakeSsh } from "../../fixtures/network/fakeSsh.ts"
import { eventually, liveSsh } from "./live.ts"

const content = Buffer.from("all of it ".repeat(10_000))

/** Serves a file without end, whatever it announces. */
const endless = (announced: { readonly size?: number }) => {
  let bytes = 0
  let ends = 0
  const serve = (sftp: SFTPWrapper) => {
    sftp.on("OPEN", (id) => sftp.handle(id, Buffer.from("1")))
    sftp.on("FSTAT", (id) => Reflect.apply(sftp.attrs, sftp, [id, announced]))
    sftp.on("READ", (id, _handle, _offset, length) => {
      bytes += length
      sftp.data(id, Buffer.alloc(length))
    })
    sftp.on("CLOSE", (id) => {
      ends += 1
      sftp.status(id, 0)
    })
  }
  return { serve, served: () => bytes, closed: () => ends }
}

describe("a server whose SFTP is odd", () => {
  it.scopedLive("has its files read to the end when it tells no size", () =>
    Effect.gen(function*() {
      const serve = (sftp: SFTPWrapper) => {
        sftp.on("OPEN", (id) => sftp.handle(id, Buffer.from("1")))
        sftp.on("FSTAT", (id) => Reflect.apply(sftp.attrs, sftp, [id, {}]))
        sftp.on("READ", (id, _handle, offset, length) =>
          offset >= content.length
            ? sftp.status(id, 1)
            : sftp.data(id, content.subarray(offset, offset + length)))
        sftp.on("CLOSE", (id) => sftp.status(id, 0))
      }
      const { access } = yield* fakeSsh({ sftp: serve })
      const { read } = yield* (yield* Sftp).session(access)
      const chunks = yield* Stream.runCollect(read("/file"))
      expect(Buffer.concat([...chunks]).equals(content)).toBe(true)
    }).pipe(Effect.provide(liveSsh())))

  it.scopedLive.each<[what: string, attributes: { readonly size?: number }]>([["no size", {}], ["0 bytes", {
    size: 0
  }]])(
    "has its files read to 64 MiB and no further where it announces %s and sends without end",
    ([_what, announced]) =>
      Effect.gen(function*() {
        const { closed, serve, served } = endless(announced)
        const { access } = yield* fakeSsh({ sftp: serve })
        const { read } = yield* (yield* Sftp).session(access)
        const error = yield* Effect.flip(Stream.runDrain(read("/file")))
        expect(error.message).toMatch(
          /^\/file on "Main": it is announced without a size and does not end within 64 MiB/
        )
        expect([served() / 1024 ** 2, closed()]).toEqual([expect.closeTo(64, 0), 1])
      }).pipe(Effect.provide(liveSsh()))
  )

  it.scopedLive.each<[what: string, size: number]>([["nothing", 0], ["a file without end", 1024 ** 5]])(
    "is asked for nothing more once its reader has left, where it announces %s",
    ([_what, size]) =>
      Effect.gen(function*() {
        const { closed, serve, served } = endless({ size })
        const { access } = yield* fakeSsh({ sftp: serve })
        const { read } = yield* (yield* Sftp).session(access)
        const reading = yield* Effect.fork(Stream.runDrain(read("/file")))
        yield* eventually(Effect.sync(served), (bytes) => bytes > 1024 ** 2)
        yield* Fiber.interrupt(reading)
        // Requests that were on their way are still answered.
        yield* Effect.sleep("200 millis")
        const before = served()
        yield* Effect.sleep("200 millis")
        expect([served(), closed()]).toEqual([before, 1])
      }).pipe(Effect.provide(liveSsh()))
  )

  it.scopedLive.each<[what: string, entries: number]>([["entries", 500], ["empty answers", 0]])(
    "is not read without end where it lists %s",
    ([_what, entries]) =>
      Effect.gen(function*() {
        let closed = 0
        const attrs = { mode: 0o100644, uid: 0, gid: 0, size: 1, atime: 0, mtime: 0 }
        const serve = (sftp: SFTPWrapper) => {
          sftp.on("OPENDIR", (id) => sftp.handle(id, Buffer.from("1")))
          sftp.on(
            "READDIR",
            (id) =>
              sftp.name(id, Array.from({ length: entries }, (_, at) => ({ filename: `${at}`, longname: "", attrs })))
          )
          sftp.on("CLOSE", (id) => {
            closed += 1
            sftp.status(id, 0)
          })
        }
        const { access } = yield* fakeSsh({ sftp: serve })
        const { list } = yield* (yield* Sftp).session(access)
        const error = yield* Effect.flip(Stream.runDrain(list("/files")))
        expect(error.message).toBe(
          "/files on \"Main\": it holds more than 200,000 entries, the most that are read of a directory"
        )
        expect(closed).toBe(1)
      }).pipe(Effect.provide(liveSsh()))
  )

  it.scopedLive("is asked for the home again when the first who asked has left", () =>
    Effect.gen(function*() {
      let asked = 0
      const serve = (sftp: SFTPWrapper) => {
        sftp.on("REALPATH", (id) => {
          asked += 1
          if (asked > 1) sftp.name(id, [{ filename: "/home/u", longname: "", attrs: noAttributes }])
        })
        sftp.on("LSTAT", (id) => sftp.status(id, 2))
      }
      const noAttributes = { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 }
      const { access } = yield* fakeSsh({ sftp: serve })
      const { stat } = yield* (yield* Sftp).session(access)
      const first = yield* Effect.fork(stat("~/a"))
      yield* Effect.sleep("200 millis")
      yield* Fiber.interrupt(first)
      expect((yield* Effect.flip(Effect.timeout(stat("~/a"), "5 seconds"))).message).toContain("no such file")
      expect(asked).toBe(2)
    }).pipe(Effect.provide(liveSsh())))
})
