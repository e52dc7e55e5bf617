import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const script = fileURLToPath(new URL("../../scripts/folderSizes.mjs", import.meta.url))
const filesIn = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/file${index}.ts`, ""]))

it.scoped("refuses folders that hold more than 20 files, at any depth", () =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    const check = Effect.sync(() => {
      const { status, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: "utf8" })
      return { status, output: stderr }
    })
    yield* plant(root, { ...filesIn("src", 20), ...filesIn("src/one", 20), ...filesIn("test", 20) })
    expect(yield* check).toEqual({ status: 0, output: "" })
    yield* plant(root, filesIn("src/one/within", 21))
    expect(yield* check).toEqual({
      status: 1,
      output: "src/one/within holds 21 files: sort them into folders, of at most 20 files each\n"
    })
  }))
