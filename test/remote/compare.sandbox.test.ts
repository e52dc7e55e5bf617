import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { createHash } from "node:crypto"
import {
  contentsCommand,
  inventoryCommand,
  parseContents,
  parseInventory,
  textLimit
} from "../../src/remote/compare.ts"
import { runHere, shells } from "../layers/RemoteHere.ts"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

describe.each(shells)("compare in $name", (shell) => {
  const inventory = (home: string, path: string, names: ReadonlyArray<string>) =>
    Effect.map(runHere(inventoryCommand(path, names, false), { shell, home }), (answer) => {
      expect(answer).toMatchObject({ code: 0, stderr: "" })
      return Object.fromEntries(Option.getOrThrow(parseInventory(answer.stdout)))
    })

  it.scoped("hashes the named files and everything below the named directories", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, {
        "app/compose.yml": "services: {}",
        "app/.env": "A=1",
        "app/secret": "not asked for",
        "app/data/a/b.txt": "b",
        "app/data/link": { link: "/etc/passwd" },
        "app/data/empty": { directory: true },
        "app/data/zero": ""
      })
      expect(yield* inventory(home, "~/app", ["compose.yml", ".env", "data", "missing"])).toEqual({
        "compose.yml": { size: 12, sha256: sha256("services: {}") },
        ".env": { size: 3, sha256: sha256("A=1") },
        "data/a/b.txt": { size: 1, sha256: sha256("b") },
        "data/zero": { size: 0, sha256: sha256("") }
      })
    }))

  it.scoped("neither runs, loses nor mixes up an odd name", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const names = [
        "$(touch RAN)",
        "'; touch RAN; '",
        "two  words ",
        "line\nbreak",
        "s 1 x\n" + "0".repeat(64) + "  forged",
        "back\\slash",
        "\\n",
        "-rf",
        "*",
        "ü",
        "%s"
      ]
      yield* plant(home, Object.fromEntries(names.map((name) => [`app/data/${name}`, `of ${name}`])))
      expect(yield* inventory(home, `${home}/app`, ["data"])).toEqual(
        Object.fromEntries(names.map((name) => [
          `data/${name}`,
          { size: Buffer.byteLength(`of ${name}`), sha256: sha256(`of ${name}`) }
        ]))
      )
    }))

  it.scoped("has nothing to tell of a directory that is not there", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      expect(yield* inventory(home, "~/none", ["data"])).toEqual({})
    }))

  it.scoped("takes more names than a command has room for", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      yield* plant(home, { "app/last": "x" })
      const names = Array.from({ length: 5_000 }, (_, index) => `a-rather-long-name-of-a-file/${index}`)
      expect(Object.keys(yield* inventory(home, "~/app", [...names, "last"]))).toEqual(["last"])
    }))

  it.scoped("fetches the beginnings of files", () =>
    Effect.gen(function*() {
      const home = yield* temporaryDirectory
      const long = "x".repeat(textLimit + 1)
      yield* plant(home, { "a b/one": "1\n\n", "a b/data/$(x)\n": "2", "a b/nul": "a\0b", "a b/long": long })
      const names = ["one", "data/$(x)\n", "nul", "long", "gone"]
      const { stdout } = yield* runHere(contentsCommand("~/a b", names, false), { shell, home })
      expect(Object.fromEntries(parseContents(stdout))).toEqual({
        "one": "1\n\n",
        "data/$(x)\n": "2",
        "nul": "ab",
        "long": long.slice(0, textLimit),
        "gone": ""
      })
    }))
})

describe("parseInventory", () => {
  it("does not read an answer whose beginning is lost", () => {
    expect(parseInventory(`s 1 ./a\0${"0".repeat(64)}  ./a\0`)).toEqual(Option.none())
  })
  it("keeps a file that may not be read apart from one with a hash", () => {
    expect(parseInventory("berth-files\0s 3 ./a\0")).toEqual(
      Option.some(new Map([["a", { size: 3, sha256: undefined }]]))
    )
  })
})
