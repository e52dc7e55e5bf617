import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const script = fileURLToPath(new URL("../../scripts/modules.mjs", import.meta.url))

const check = (tree: { readonly [path: string]: string }) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    yield* plant(root, tree)
    const { status, stderr, stdout } = spawnSync(process.execPath, [script, root], { encoding: "utf8" })
    return { status, problems: stderr.split("\n").filter((line) => line !== ""), summary: stdout.trim() }
  })

const lines = (count: number) => "// a\n".repeat(count)
const pairs = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      [`src/part${index}/whole.ts`, "import \"./piece.ts\"\n"],
      [`src/part${index}/piece.ts`, lines(1)]
    ]).flat()
  )

describe("the rules of modules", () => {
  it.scoped("hold where each export has a user, and few files are used in one place alone", () =>
    Effect.gen(function*() {
      const found = yield* check({
        "src/main.ts": "import { a } from \"./one.ts\"\nimport * as two from \"./two.ts\"\n" +
          "const { late } = await import(\"./lazy.ts\")\nexport * from \"./list.ts\"\nvoid two.c + two.e\n",
        "src/one.ts": "export const a = 1\nexport class Tested {}\nimport { type B } from \"./two.ts\"\n",
        "src/two.ts": `export type B = 1\nexport const { c, d: [e] } = f\n${lines(478)}`,
        "src/lazy.ts": "export const late = 1\n",
        "src/list.ts": "export const nobodyNamesMe = 1\n",
        "src/remote/generated.sh.ts": `export const script = 1\n${lines(600)}`,
        "test/one.test.ts": "import { Tested } from \"../src/one.ts\"\n",
        ...pairs(38)
      })
      expect(found).toEqual({
        status: 0,
        problems: [],
        summary: "81 modules: 1 lines in the middle, 480 at most; 43 imports between them, 40 for one neighbour alone"
      })
    }))

  it.scoped("refuse exports of every kind without a user, long modules, and many files with one user each", () =>
    Effect.gen(function*() {
      const { problems, status } = yield* check({
        "src/main.ts": "import { used } from \"./schema/one.ts\"\nconst { late } = await import(\"./lazy.ts\")\n",
        "src/lazy.ts": "export const late = 1\nexport const forgotten = 2\n",
        "src/schema/one.ts": "export const used = 1\nexport const a = 1, { b, c: [d] } = e\nexport function f() {}\n" +
          "export interface G {}\nexport type H = 1\nexport class I {}\nconst j = 1\n",
        "src/long.ts": lines(481),
        ...pairs(41)
      })
      expect(status).toBe(1)
      expect(problems.slice(0, 10)).toEqual([
        "src/lazy.ts exports forgotten, which nobody imports",
        "src/long.ts has 481 lines: at most 480",
        ...["a", "b", "d", "f", "G", "H", "I"].map((name) => `src/schema/one.ts exports ${name}, which nobody imports`),
        "41 files exist for one neighbour alone, at most 40:"
      ])
      expect(problems).toContain("  src/part7/piece.ts <- src/part7/whole.ts")
    }))
})
