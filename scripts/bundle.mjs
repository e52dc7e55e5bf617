// Packs the built service into a few files: reading thousands of small ones takes a second at every start, and what is
// never used takes memory.
import { build } from "esbuild"
import { rm } from "node:fs/promises"
import { packing } from "./packing.mjs"

const outdir = "dist/service"
await rm(outdir, { recursive: true, force: true })
await build({ ...packing, entryPoints: { berth: "dist/main.js", cli: "dist/cli/berth.js" }, outdir })
