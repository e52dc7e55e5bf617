// Packs the service into a few files: reading thousands of small ones takes a second at every start, and what is never
// used takes memory. It packs the sources themselves, so that a first start does not wait for the compiler's check of types.
import { build } from "esbuild"
import { rm } from "node:fs/promises"
import { packing } from "./packing.mjs"

const outdir = "dist/service"
await rm(outdir, { recursive: true, force: true })
await build({ ...packing, entryPoints: { berth: "src/main.ts", cli: "src/cli/berth.ts" }, outdir })
