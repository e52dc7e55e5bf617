// Builds the web page into dist/page: index.html and assets/ with hashed names, each with its compressed forms, since
// the service compresses nothing by itself.
import { build as bundleStyles } from "esbuild"
import { createHash } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { rolldown } from "rolldown"

const source = "src/web"
const out = "dist/page"
// Built beside it and put in its place as a whole: a service may be reading the old one.
const fresh = `${out}.${process.pid}`
const { resolve } = createRequire(import.meta.url)

const compressible = /\.(js|css|svg|html)$/
const write = async (name, content) => {
  const file = join(fresh, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
  if (!compressible.test(name)) return
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }))
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
}

/** Writes an asset under a name that changes with its content, and returns its address. */
const writeAsset = async (name, content) => {
  const hash = createHash("sha256").update(content).digest("base64url").replaceAll(/[-_]/g, "x").slice(0, 8)
  const [ending] = /\.[^.]+$/.exec(name)
  const asset = `assets/${basename(name, ending)}-${hash}${ending}`
  await write(asset, content)
  return `/${asset}`
}

const buildScripts = async () => {
  const bundle = await rolldown({
    input: { main: join(source, "main.tsx") },
    platform: "browser",
    tsconfig: join(source, "tsconfig.json"),
    transform: { define: { "process.env.NODE_ENV": "\"production\"" } },
    // Words to frameworks that render on servers, which no bundler keeps.
    onLog: (level, log, tell) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : tell(level, log))
  })
  // One chunk for what the first screen imports: a module that a later one shares would be a request of its own.
  const isFirst = (id, context, seen = new Set()) => {
    if (seen.has(id)) return false
    seen.add(id)
    const { importers, isEntry } = context.getModuleInfo(id)
    return isEntry || importers.some((importer) => isFirst(importer, context, seen))
  }
  const { output } = await bundle.generate({
    format: "esm",
    codeSplitting: { groups: [{ name: (id, context) => (isFirst(id, context) ? "first" : null), debugName: "first" }] },
    minify: true,
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js"
  })
  await bundle.close()
  await Promise.all(output.map(({ code, fileName }) => write(fileName, code)))
  const entry = output.find(({ isEntry }) => isEntry)
  return { main: `/${entry.fileName}`, first: entry.imports.map((name) => `/${name}`) }
}

const fontFiles = {
  inter: resolve("@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"),
  mono: resolve("@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2")
}

const buildStyles = async (fonts) => {
  const { outputFiles } = await bundleStyles({
    entryPoints: [join(source, "styles/main.css")],
    bundle: true,
    minify: true,
    write: false,
    target: "chrome123",
    external: ["font:*"],
    logLevel: "error"
  })
  const css = outputFiles[0].text.replaceAll(/url\("?font:(\w+)"?\)/g, (_, name) => `url(${fonts[name]})`)
  return writeAsset("page.css", css)
}

await rm(fresh, { recursive: true, force: true })
const fonts = Object.fromEntries(
  await Promise.all(
    Object.entries(fontFiles).map(async (
      [name, path]
    ) => [name, await writeAsset(`${name}.woff2`, await readFile(path))])
  )
)
const icon = await writeAsset("berth.svg", await readFile(join(source, "berth.svg")))
const [scripts, styles] = await Promise.all([buildScripts(), buildStyles(fonts)])
const html = (await readFile(join(source, "index.html"), "utf8"))
  .replaceAll("{icon}", icon)
  .replaceAll("{styles}", styles)
  .replaceAll("{font}", fonts.inter)
  .replaceAll("{main}", scripts.main)
  .replace(/^.*\{first\}.*\n/m, (line) => scripts.first.map((name) => line.replace("{first}", name)).join(""))
await write("index.html", html)
await rm(out, { recursive: true, force: true })
await rename(fresh, out)
