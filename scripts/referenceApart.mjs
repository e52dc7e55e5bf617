import { readFile } from "node:fs/promises"

/**
 * For esbuild. The reference page's script is the largest part of all by far. Only /reference imports it, when it is first
 * asked for; but what an index file mentions would be packed with what is read at the start.
 */
export const referenceApart = {
  name: "reference-apart",
  setup: ({ onLoad }) =>
    onLoad({ filter: /@effect[\\/]platform[\\/]dist[\\/]esm[\\/]index\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace(/^export \* as HttpApiScalar .*$/m, "")
    }))
}
