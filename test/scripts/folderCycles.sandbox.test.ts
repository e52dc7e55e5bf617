import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const script = fileURLToPath(new URL("../../scripts/folderCycles.mjs", import.meta.url))
const using = (...paths: ReadonlyArray<string>) => paths.map((path) => `export * from "${path}"\n`).join("")
const nothing = "export const a = 1\n"

const check = (tree: { readonly [path: string]: string }) =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    yield* plant(root, tree)
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: "utf8" })
    return { status, output: stderr }
  })

describe("folder cycles", () => {
  it.scoped("are absent where imports of a floor go one way, and between files of one folder", () =>
    Effect.gen(function*() {
      const found = yield* check({
        "src/main.ts": using("./services/a.ts"),
        "src/services/a.ts": using("./one/a.ts", "./one/within/a.ts", "./b.ts"),
        "src/services/b.ts": using("./a.ts"),
        "src/services/one/a.ts": using("./within/a.ts", "../two/within/a.ts"),
        "src/services/one/within/a.ts": nothing,
        "src/services/two/within/a.ts": using("./deeper/a.ts"),
        "src/services/two/within/deeper/a.ts": "import \"effect\"\nimport \"node:fs\"\n",
        "src/cli/a.ts": using("../services/a.ts", "../main.ts")
      })
      expect(found).toEqual({ status: 0, output: "" })
    }))

  it.scoped("are reported at any depth, with the imports that make them", () =>
    Effect.gen(function*() {
      const { output, status } = yield* check({
        // A file and a folder next to it, but not two files of which one uses the folder and the folder the other.
        "src/http/a.ts": using("./one/a.ts"),
        "src/http/one/a.ts": using("../a.ts"),
        "src/pipelines/one/two/a.ts": using("./three/a.ts"),
        "src/pipelines/one/two/b.ts": using("./a.ts"),
        "src/pipelines/one/two/three/a.ts": using("./b.ts"),
        "src/pipelines/one/two/three/b.ts": using("../b.ts"),
        "src/remote/a.ts": using("./one/a.ts"),
        "src/remote/b.ts": nothing,
        "src/remote/one/a.ts": using("../b.ts"),
        // Sibling folders, although no two of the folders within them import each other.
        "src/services/one/within/a.ts": using("../../two/within/a.ts"),
        "src/services/two/within/a.ts": nothing,
        "src/services/two/other/a.ts": using("../../one/other/a.ts"),
        "src/services/one/other/a.ts": nothing,
        // Three folders, by a type and by an import at run time.
        "src/web/one/A.tsx": "import type { a } from \"../two/a.ts\"\nexport type A = typeof a\n",
        "src/web/two/a.ts": "export const a = () => import(\"../three/a.ts\")\n",
        "src/web/three/a.ts": using("../one/A.tsx")
      })
      expect(status).toBe(1)
      expect(output.split("\n").filter((line) => line.startsWith("error"))).toEqual([
        "error folder-cycles src/http: a.ts <-> one",
        "error folder-cycles src/pipelines/one/two: a.ts <-> b.ts <-> three",
        "error folder-cycles src/services: one <-> two",
        "error folder-cycles src/web: one <-> three <-> two"
      ])
      expect(output).toContain("  src/http/a.ts -> src/http/one/a.ts\n  src/http/one/a.ts -> src/http/a.ts\n")
    }))
})
