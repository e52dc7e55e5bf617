import { createRequire } from "node:module"

const load = createRequire(import.meta.url)

const isInstalled = (name: string) => {
  try {
    load.resolve(name)
    return true
  } catch (error) {
    // Any other error: the package is installed, but `require` cannot load it.
    return !(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND")
  }
}

/**
 * Rejects with one sentence if packages that an entry point of the library uses are not installed. They are optional
 * peers, since the program `berth` does not need them.
 */
export const requirePeers = async (entry: string, names: ReadonlyArray<string>): Promise<void> => {
  const missing = names.filter((name) => !isInstalled(name))
  if (missing.length === 0) return
  const { peerDependencies }: { readonly peerDependencies: Readonly<Record<string, string>> } = load(
    "../package.json"
  )
  const wanted = missing.map((name) => `"${name}@${peerDependencies[name] ?? "latest"}"`).join(" ")
  const error = new Error(
    `Cannot import "${entry}": the library needs ${missing.join(", ")}, which ` +
      `${missing.length === 1 ? "is" : "are"} not installed. Next to berth, run: npm install ${wanted}`
  )
  // Node prints the stack of an uncaught error, which would add nothing to the message.
  error.stack = `${error.name}: ${error.message}`
  throw error
}
