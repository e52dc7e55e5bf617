// Packs the built service into a few files: reading thousands of small ones takes a second at every start, and what is
// never used takes memory. Names stay as they are, so that stack traces can be read.
import { build } from "esbuild"
import { rm } from "node:fs/promises"
import { referenceApart } from "./referenceApart.mjs"

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
  // What has parts in machine code, or can have, stays where it was installed.
  external: ["ssh2", "libsql", "pg"],
  // Some packages still ask for others by `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';const require=requireFrom(import.meta.url);"
  },
  logLevel: "error"
})
