import { build } from "esbuild"
import { readdirSync } from "node:fs"
import { describe, expect, it } from "vitest"
import packageJson from "../../package.json" with { type: "json" }

const { dependencies, devDependencies, exports, peerDependencies, peerDependenciesMeta } = packageJson
const named = (record: object) => Object.keys(record).sort()

/** The sources of the modules that the package exports. */
const exported = Object.values(exports).flatMap(({ default: file }) => {
  const source = file.replace("./dist/", "src/").replace(/\.js$/, ".ts")
  if (!source.includes("*")) return [source]
  const folder = source.slice(0, source.indexOf("*"))
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}${name}`)
})

describe("the packages that somebody has to install", () => {
  it("are for the program those with parts in machine code", () => {
    expect(named(dependencies)).toEqual(["libsql", "ssh2"])
  })

  it("are for the library all that its modules import", async () => {
    const { metafile } = await build({
      stdin: { contents: exported.map((file) => `import "./${file}"`).join("\n"), resolveDir: "." },
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
      packages: "external",
      logLevel: "error"
    })
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external, path }) => external === true && !path.startsWith("node:"))
        .map(({ path }) => path.split("/").slice(0, path.startsWith("@") ? 2 : 1).join("/"))
    )
    expect(exported.length).toBeGreaterThan(500)
    expect(named(peerDependencies)).toEqual(
      [...new Set(imported)].filter((name) => !Object.hasOwn(dependencies, name)).sort()
    )
  }, 60_000)

  it("are optional for whoever wants the program alone, and in the versions that the tests use", () => {
    expect(peerDependenciesMeta).toEqual(
      Object.fromEntries(named(peerDependencies).map((name) => [name, { optional: true }]))
    )
    const tested: Readonly<Record<string, string>> = devDependencies
    for (const [name, range] of Object.entries(peerDependencies)) expect(range, name).toBe(`^${tested[name]}`)
  })
})
