// Writes dist/berth-pipelines: the library as a package of its own, for `npm pack ./dist/berth-pipelines`. It holds what its
// entries reach of the compiled modules; its exports are the entries alone.
import { existsSync } from "node:fs"
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path/posix"

const out = "dist/berth-pipelines"
/** Names of the entries, and the modules that list what each exports. */
const entries = {
  ".": "index",
  "./client": "client/index",
  "./schema": "library/schema",
  "./services": "library/services",
  "./pipelines": "library/pipelines",
  "./http": "library/http"
}
/** Packages that a script and the library have to have in common. */
const shared = ["effect", "@effect/platform", "@effect/platform-node"]

await rm(out, { recursive: true, force: true })
const { dependencies, devDependencies, engines, license, type, version } = JSON.parse(
  await readFile("package.json", "utf8")
)

// The compiler leaves the output of sources that were renamed or removed.
for (const name of await readdir("dist", { recursive: true })) {
  const file = name.replaceAll("\\", "/")
  const [, module] = /^(?!(?:service|page)\b)(.+?)\.(?:js|js\.map|d\.ts)$/.exec(file) ?? []
  if (module !== undefined && !existsSync(join("src", `${module}.ts`))) await rm(join("dist", file))
}

const imports = /\b(?:from|import)\s*\(?\s*"([^"\n]+)"/g
const packageOf = (specifier) => specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/")
const versions = { ...devDependencies, ...dependencies }
const modules = new Set(Object.values(entries))
const packages = new Set()
for (const module of modules) {
  for (const file of [`${module}.js`, `${module}.d.ts`]) {
    for (const [, specifier] of (await readFile(join("dist", file), "utf8")).matchAll(imports)) {
      if (specifier.startsWith(".")) modules.add(join(dirname(module), specifier).replace(/\.[jt]s$/, ""))
      else if (Object.hasOwn(versions, packageOf(specifier))) packages.add(packageOf(specifier))
    }
    await mkdir(join(out, "dist", dirname(file)), { recursive: true })
    await cp(join("dist", file), join(out, "dist", file))
  }
}
if (existsSync("dist/page")) await cp("dist/page", join(out, "dist/page"), { recursive: true })

const range = (names) => Object.fromEntries(names.sort().map((name) => [name, `^${versions[name]}`]))
const manifest = {
  name: "berth-pipelines",
  version,
  description:
    "Deploys, upserts, routes and webhooks of Berth as Effect programs over ports with live and test layers.",
  type,
  license,
  engines,
  exports: Object.fromEntries(
    Object.entries(entries).map(([name, module]) => [
      name,
      { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` }
    ])
  ),
  dependencies: range([...packages].filter((name) => !shared.includes(name))),
  peerDependencies: range(shared)
}
await writeFile(join(out, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`)
await cp("LICENSE", join(out, "LICENSE"))
await cp("docs/scripts.md", join(out, "README.md"))
