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
  version: "7.1.0",
  type: "module",
  license: "MIT",
  engines: { node: ">=20" },
  dependencies: { ssh2: "1.17.0" },
  devDependencies: {
    effect: "3.1.0",
    "@effect/platform": "0.2.0",
    "@effect/platform-node": "0.3.0",
    yaml: "2.1.0",
    diff: "9.0.0",
    vitest: "3.0.0"
  }
})

const declared = (module: string) => ({ [`dist/${module}.d.ts`]: "export declare const one: number\n" })

it.scoped("the library is a package of what its entries reach, with what that imports as dependencies", () =>
  Effect.gen(function*() {
    const root = yield* temporaryDirectory
    const entries = ["client/index", "library/services", "library/pipelines", "library/http"]
    yield* plant(root, {
      "package.json": packageJson,
      "LICENSE": "MIT\n",
      "docs/scripts.md": "# Scripts\n",
      "src/services/one.ts": "",
      "src/services/two.ts": "",
      "src/services/lonely.ts": "",
      ...Object.fromEntries(
        ["index", ...entries, "library/schema"].flatMap((module) => [
          [`src/${module}.ts`, ""],
          [`dist/${module}.js`, "export const one = 1\n"],
          [`dist/${module}.d.ts`, "export declare const one: number\n"]
        ])
      ),
      "dist/index.js": "export { one } from \"./services/one.js\"\n",
      "dist/library/schema.d.ts": "export { Two } from \"../services/two.ts\"\n",
      "dist/services/one.js": "import { parse } from \"yaml\"\nexport const one = () => import(\"ssh2\")\n",
      ...declared("services/one"),
      "dist/services/two.js": "import \"effect/Effect\"\nimport \"node:fs\"\nexport const two = 2\n",
      "dist/services/two.d.ts": "export type Two = import(\"@effect/platform/Path\").Path\n",
      "dist/services/lonely.js": "import \"diff\"\n",
      ...declared("services/lonely"),
      // Built before its source was removed.
      "dist/services/gone.js": "",
      "dist/services/gone.d.ts": "",
      // Bundled: they have no sources of their names.
      "dist/service/berth.js": "",
      "dist/page/assets/main.js": ""
    })
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: "utf8" })
    expect(status, stderr).toBe(0)

    const packed = (file: string) => join(root, "dist/berth-pipelines", file)
    expect(JSON.parse(readFileSync(packed("package.json"), "utf8"))).toMatchObject({
      name: "berth-pipelines",
      version: "7.1.0",
      dependencies: { ssh2: "^1.17.0", yaml: "^2.1.0" },
      peerDependencies: { effect: "^3.1.0", "@effect/platform": "^0.2.0", "@effect/platform-node": "^0.3.0" },
      exports: { "./schema": { types: "./dist/library/schema.d.ts", default: "./dist/library/schema.js" } }
    })
    for (const file of ["dist/services/one.js", "dist/services/two.js", "dist/services/two.d.ts", "README.md"]) {
      expect(existsSync(packed(file)), file).toBe(true)
    }
    expect(existsSync(packed("dist/page/assets/main.js"))).toBe(true)
    expect(existsSync(packed("dist/services/lonely.js"))).toBe(false)
    for (const file of ["services/gone.js", "services/gone.d.ts"]) {
      expect(existsSync(join(root, "dist", file)), file).toBe(false)
    }
    for (const file of ["service/berth.js", "page/assets/main.js"]) {
      expect(existsSync(join(root, "dist", file)), file).toBe(true)
    }
  }))
