// Writes dist/checked: for each module that the package exports one that loads it once its optional peers are there.
// Node resolves imports before it runs anything, so the modules themselves cannot say in words which package is missing.
import { build } from "esbuild"
import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path/posix"

const out = "dist/checked"
await rm(out, { recursive: true, force: true })
const { exports, peerDependenciesMeta, name } = JSON.parse(await readFile("package.json", "utf8"))

const filesIn = async (directory) =>
  (await readdir(directory, { recursive: true })).map((file) => file.replaceAll("\\", "/"))

// The compiler leaves the output of sources that were renamed or removed, and the package would have it too.
for (const file of await filesIn("dist")) {
  const [, module] = /^(?!(?:service|page)\b)(.+?)\.(?:js|js\.map|d\.ts)$/.exec(file) ?? []
  if (module !== undefined && !existsSync(join("src", `${module}.ts`))) await rm(join("dist", file))
}

const modulesIn = async (directory) =>
  (await filesIn(directory)).filter((file) => file.endsWith(".js")).map((file) => file.slice(0, -3))

/** The exported modules: the name that imports them, and their file. */
const entries = (await Promise.all(
  Object.entries(exports).map(async ([path, { default: file }]) => {
    const names = path.includes("*") ? await modulesIn(dirname(file)) : [""]
    return names.map((each) => [join(name, path.replace("*", each)), join(file.replace("*", each))])
  })
)).flat()

const { metafile: { inputs, outputs } } = await build({
  entryPoints: entries.map(([, file]) => file),
  outbase: "dist",
  outdir: out,
  bundle: true,
  splitting: true,
  write: false,
  metafile: true,
  platform: "node",
  format: "esm",
  packages: "external",
  logLevel: "error"
})

/** The optional peers that a module or one that it reaches imports. */
const peersOf = (file) => {
  const files = new Set([file])
  const peers = new Set()
  for (const each of files) {
    for (const { external, path } of inputs[each].imports) {
      if (!external) files.add(path)
      else {
        const peer = path.split("/").slice(0, path.startsWith("@") ? 2 : 1).join("/")
        if (Object.hasOwn(peerDependenciesMeta, peer)) peers.add(peer)
      }
    }
  }
  return [...peers].sort()
}

for (const { entryPoint, exports: names } of Object.values(outputs)) {
  const [entry] = entries.find(([, file]) => file === entryPoint) ?? []
  if (entry === undefined) continue
  const target = join(out, relative("dist", entryPoint))
  const to = (file) => relative(dirname(target), file)
  await mkdir(dirname(target), { recursive: true })
  await writeFile(
    target,
    `import { requirePeers } from "${to("dist/requirePeers.js")}"
await requirePeers("${entry}", ${JSON.stringify(peersOf(entryPoint))})
export const { ${names.join(", ")} } = await import("${to(entryPoint)}")
`
  )
}
