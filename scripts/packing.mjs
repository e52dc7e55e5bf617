import { readFile } from "node:fs/promises"

const { dependencies } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"))

/** A module's import of names from Effect's packages: what the package's index hands on is not told apart when packed. */
const fromIndex = /^import \{([^}]+)\} from "(effect|@effect\/[\w-]+)";?$/gm

/** The same from the module of each name. Functions without a module of their own are of `effect/Function`. */
const fromModules = (_, names, from) =>
  names.split(",").map((name) => name.trim()).filter((name) => !/^(type .*)?$/.test(name)).map((name) => {
    const [imported, , local = imported] = name.split(" ")
    return /^[A-Z]/.test(imported)
      ? `import * as ${local} from "${from}/${imported}";`
      : `import { ${name} } from "${from}/Function";`
  }).join("")

/** The server's module has a layer for tests, whose client would bring the whole of undici along. */
const serverModule = /@effect[\\/]platform-node[\\/]dist[\\/]esm[\\/]internal[\\/]httpServer\.js$/
const noClient = "export const layerWithoutAgent = undefined, makeAgentLayer = undefined"
/** It makes WebSockets for handlers that upgrade a request, which none of Berth's does. */
const noWebSockets = "export class WebSocketServer { constructor() { throw new Error('no WebSockets here') } }"
/** Parser of forms. The guard refuses every body that is not JSON. */
const forms = /^multipasta(\/node)?$/
const noForms =
  "export const make = () => { throw new Error('no forms here') }, decodeField = make, defaultIsFile = make"

/**
 * For esbuild: packs only what a program uses of Effect's modules, and keeps apart what is loaded when it is first used.
 * Without it the service reads 3.2 MB before its first answer instead of 1.9, which takes a quarter longer: 0.53 s, not
 * 0.40.
 */
const onlyWhatIsUsed = {
  name: "only-what-is-used",
  setup: ({ onLoad, onResolve }) => {
    onResolve(
      { filter: /NodeHttpClient\.js$/ },
      ({ importer, path }) =>
        serverModule.test(importer) ? { path, namespace: "unused", sideEffects: false } : undefined
    )
    onResolve(
      { filter: /^ws$/ },
      ({ importer, path }) =>
        serverModule.test(importer) ? { path, namespace: "unused", sideEffects: false } : undefined
    )
    onResolve({ filter: forms }, () => ({ path: "multipasta", namespace: "unused", sideEffects: false }))
    const unused = { ws: noWebSockets, multipasta: noForms }
    onLoad({ filter: /^/, namespace: "unused" }, ({ path }) => ({ contents: unused[path] ?? noClient }))
    // Vendors' own media types: the page's files have standard ones.
    onLoad({ filter: /[\\/]mime[\\/]types[\\/]other\.js$/ }, () => ({ contents: "module.exports = {}" }))
    onLoad({ filter: /\.[jt]s$/ }, async ({ path }) => {
      if (/[\\/]node_modules[\\/]/.test(path)) return undefined
      const contents = (await readFile(path, "utf8")).replace(fromIndex, fromModules)
      return { contents, loader: path.endsWith(".ts") ? "ts" : "js" }
    })
  }
}

/** Bundles programs for Node into a few files; names are preserved for readable stack traces. */
export const packing = {
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  platform: "node",
  format: "esm",
  target: "node20",
  plugins: [onlyWhatIsUsed],
  // Its form for Node asks for its own files in a way that cannot be packed.
  alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  // The dependencies of the package are what has parts in machine code, and stay where npm installs them. pg asks for
  // pg-native only when told to.
  external: [...Object.keys(dependencies), "pg-native"],
  // Some packages still ask for others by `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';const require=requireFrom(import.meta.url);"
  },
  logLevel: "error"
}
