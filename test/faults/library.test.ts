import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { cpSync, readdirSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeWorld } from "../../src/sandbox/world.ts"
import { emptyDirectory, ended, isOffline, packInto, root } from "../fixtures/packed.ts"

const modules = ["", "/client", "/schema", "/services", "/pipelines", "/http"].map((name) => `berth-pipelines${name}`)

const settings = {
  compilerOptions: {
    target: "ES2022",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    // A type that a declaration needs has to be exported, too.
    declaration: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")]
  },
  include: ["*.ts"]
}

const mistakes = `import { Berth } from "berth-pipelines"
import { Effect } from "effect"
export const healthy: Effect.Effect<boolean, unknown, Berth> = Effect.flatMap(Berth, (berth) => {
  const payload = { projectPath: "/p", serverId: "1", remotePath: "~/x" }
  // @ts-expect-error: there is no such endpoint
  void berth.use((api) => api.nothing({}))
  return Effect.map(berth.run((api) => api.deploy({ payload }), () => Effect.void), (result) => result.healthy)
})
`

// Prints the names that each module exports.
const importAll = `const exported = {}
for (const name of process.argv.slice(2)) exported[name] = Object.keys(await import(name))
console.log(JSON.stringify(exported))
`

it.scopedLive.skipIf(process.platform === "win32")(
  "the command of docs/scripts.md installs the library with all that it needs (needs the npm registry)",
  (context) =>
    Effect.gen(function*() {
      const directory = yield* emptyDirectory
      const write = (name: string, text: string) => Effect.promise(() => writeFile(join(directory, name), text))
      yield* packInto(directory, "./dist/berth-pipelines")
      yield* write("package.json", "{ \"type\": \"module\", \"private\": true }")
      const page = readFileSync(join(root, "docs/scripts.md"), "utf8")
      const [, command = ""] = /^(npm install \.\/.*)$/m.exec(page) ?? []
      const installing = yield* ended("sh", ["-c", command], directory, { npm_config_prefer_offline: "true" })
      if (installing.code !== 0 && isOffline(installing.err)) {
        return context.skip("The npm registry cannot be reached")
      }
      expect(installing.code, installing.err).toBe(0)

      yield* write("import.mjs", importAll)
      const imported = yield* ended(process.execPath, ["import.mjs", ...modules], directory)
      expect(imported.err).toBe("")
      const exported: Readonly<Record<string, ReadonlyArray<string>>> = JSON.parse(imported.out)
      expect(Object.keys(exported)).toEqual(modules)
      const hidden = yield* ended(
        process.execPath,
        ["import.mjs", "berth-pipelines/pipelines/deploy/deploy"],
        directory
      )
      expect(hidden.err).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED")

      const examples = readdirSync(join(root, "examples"))
      for (const name of examples) cpSync(join(root, "examples", name), join(directory, name))
      yield* write("mistakes.ts", mistakes)
      for (const [index, [name, names]] of Object.entries(exported).entries()) {
        const lines = names.map((each) => `export const ${each}Of = [library.${each}] as const`)
        yield* write(`all${index}.ts`, `import * as library from "${name}"\n${lines.join("\n")}\n`)
      }
      yield* write("tsconfig.json", JSON.stringify(settings))
      const tsc = join(root, "node_modules/typescript/bin/tsc")
      expect(yield* ended(process.execPath, [tsc, "-p", "."], directory)).toMatchObject({ code: 0, out: "" })

      const tested = yield* ended(process.execPath, ["--test", "listContainers.test.js"], directory)
      expect(tested.out).toContain("pass 1")
      const { settingsFile } = yield* makeWorld
      const drifting = yield* ended(process.execPath, ["driftAll.js"], directory, { BERTH_CONFIG: settingsFile })
      expect(drifting).toMatchObject({ code: 2, out: expect.stringContaining("hello: not on the platform") })

      // The client runs in browsers.
      yield* write("page.js", "import { layer } from \"berth-pipelines/client\"\nconsole.log(layer)\n")
      const bundled = yield* Effect.promise(() =>
        build({ entryPoints: [join(directory, "page.js")], bundle: true, format: "iife", write: false })
      )
      expect(bundled.errors).toEqual([])
    }).pipe(Effect.provide(NodeContext.layer)),
  900_000
)
