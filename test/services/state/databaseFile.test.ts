import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { ensureStateFile } from "../../../src/services/state/databaseFile.ts"
import { temporaryDirectory } from "../../layers/temporary.ts"

const database = Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(100)])

/** The failure of an attempt, empty where there is none, and what it warned of. */
const ensured = (file: string) =>
  Effect.suspend(() => {
    const warned: Array<string> = []
    const heard = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void warned.push(String(message))))
    return ensureStateFile(file, (cause) => cause instanceof Error ? cause.message : String(cause)).pipe(
      Effect.match({ onFailure: (failure) => failure, onSuccess: () => "" }),
      Effect.map((failure) => ({ failure, warned: warned.join("\n") })),
      Effect.provide(heard)
    )
  })

describe.skipIf(process.platform === "win32")("the file of a database", () => {
  it.scoped.each([0o644, 0o660, 0o602, 0o777, 0o640])(
    "is closed to others that may use it (%o), and that is told",
    (mode) =>
      Effect.gen(function*() {
        const file = join(yield* temporaryDirectory, "berth.db")
        for (const name of ["", "-wal", "-journal"]) {
          writeFileSync(file + name, name === "" ? database : "", { mode: 0o600 })
        }
        const paths = [file, `${file}-wal`, `${file}-journal`]
        for (const path of paths) chmodSync(path, mode)
        const { failure, warned } = yield* ensured(file)
        expect(failure).toBe("")
        for (const path of paths) {
          expect([path, statSync(path).mode & 0o777]).toEqual([path, mode & 0o700])
          expect(warned).toContain(path)
        }
        expect(yield* ensured(file)).toEqual({ failure: "", warned: "" })
        expect(readFileSync(file)).toEqual(database)
      })
  )

  it.scoped("is made where there is none, and not told of", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "new", "berth.db")
      expect(yield* ensured(file)).toEqual({ failure: "", warned: "" })
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }))

  it.scoped.each([
    { to: "an empty file", content: "" },
    { to: "a text", content: "export PATH\n" },
    { to: "nothing", content: undefined }
  ])("is not a link to $to", ({ content }) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const [file, target] = [join(directory, "berth.db"), join(directory, "target")]
      if (content !== undefined) writeFileSync(target, content, { mode: 0o644 })
      symlinkSync(target, file)
      expect((yield* ensured(file)).failure).toContain("is a link to something that is not a database")
      expect(existsSync(target) ? readFileSync(target, "utf8") : undefined).toBe(content)
      if (content !== undefined) expect(statSync(target).mode & 0o777).toBe(0o644)
    }))

  it.scoped("may be a link to a database, but none of what stands beside it a link", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const [file, target] = [join(directory, "berth.db"), join(directory, "target")]
      writeFileSync(target, database, { mode: 0o600 })
      symlinkSync(target, file)
      expect(yield* ensured(file)).toEqual({ failure: "", warned: "" })
      for (const name of ["-wal", "-journal", "-shm"]) {
        const beside = join(directory, `other${name}`)
        symlinkSync(beside, join(directory, `other.db${name}`))
        expect((yield* ensured(join(directory, "other.db"))).failure).toContain(`other.db${name} is a link`)
        unlinkSync(join(directory, `other.db${name}`))
      }
      expect(readdirSync(directory).toSorted()).toEqual(["berth.db", "target"])
    }))
})
