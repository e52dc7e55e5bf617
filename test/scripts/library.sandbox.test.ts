import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { plant, temporaryDirectory } from "../layers/temporary.ts"

const script = fileURLToPath(new URL("../../scripts/library.mjs", import.meta.url))

const packageJson = JSON.stringify({
  name: "berth",
  type: "module",
  exports: { ".": { default: "./dist/index.js" }, "./services/*": { default: "./dist/services/*.js" } },
  peerDependenciesMeta: { effect: { optional: true }, "@effect/platform": { optional: true } }
})

it.scoped("the library's modules name the peers that they reach, and go with their sources", () =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    const effect = "import { Effect } from \"effect\"\nexport const one = Effect.succeed(1)\n"
    const later = "export const load = () => import(\"@effect/platform/FileSystem\")\nexport * from \"./one.js\"\n"
    yield* plant(root, {
      "package.json": packageJson,
      "src/index.ts": "",
      "src/services/one.ts": "",
      "src/services/two.ts": "",
      "dist/index.js": "export * from \"./services/two.js\"\n",
      "dist/services/one.js": effect,
      "dist/services/two.js": later,
      // Built before its source was removed.
      "dist/services/gone.js": "import { gone } from \"./one.js\"\nexport const more = gone\n",
      "dist/services/gone.d.ts": "",
      // Bundled: they have no sources of their names.
      "dist/service/berth.js": "",
      "dist/page/assets/main.js": "",
      "dist/page.42/assets/main.js": ""
    })
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: "utf8" })
    expect(status, stderr).toBe(0)

    const checked = (file: string) => readFileSync(join(root, "dist/checked", file), "utf8")
    expect(checked("services/one.js")).toContain("requirePeers(\"berth/services/one\", [\"effect\"])")
    for (const file of ["index.js", "services/two.js"]) {
      expect(checked(file)).toContain("[\"@effect/platform\",\"effect\"]")
      expect(checked(file)).toContain("{ load, one }")
    }
    for (const file of ["services/gone.js", "services/gone.d.ts", "checked/services/gone.js"]) {
      expect(existsSync(join(root, "dist", file)), file).toBe(false)
    }
    for (const file of ["service/berth.js", "page/assets/main.js", "page.42/assets/main.js"]) {
      expect(existsSync(join(root, "dist", file)), file).toBe(true)
    }
  }))
