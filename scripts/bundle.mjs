// Packs the built service into a few files: reading thousands of small ones takes a second at every start, and what is
// never used takes memory. Names stay as they are, so that stack traces can be read.
import { build } from "esbuild"
import { readFile, rm } from "node:fs/promises"

// The reference page's script is the largest part by far. Only /reference imports it, when it is first asked for; but
// what an index file mentions would be packed with what is read at the start.
const referenceApart = {
  name: "reference-apart",
  setup: ({ onLoad }) =>
    onLoad({ filter: /@effect[\\/]platform[\\/]dist[\\/]esm[\\/]index\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace(/^export \* as HttpApiScalar .*$/m, "")
    }))
}

const outdir = "dist/service"
await rm(outdir, { recursive: true, force: true })
await build({
  entryPoints: { berth: "dist/main.js", cli: "dist/cli/berth.js" },
  outdir,
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  platform: "node",
  format: "esm",
  target: "node20",
  plugins: [referenceApart],
  // Its form for Node asks for its own files in a way that cannot be packed.
  alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  // It has parts in machine code, which stay where they were installed.
  external: ["ssh2", "libsql"],
  // Some packages still ask for others by `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';const require=requireFrom(import.meta.url);"
  },
  logLevel: "error"
})
