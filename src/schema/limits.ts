/**
 * How much is read of what others wrote: people's files, requests, and the answers of platforms and servers. What is
 * over a limit is refused in words that name it. Bytes where nothing else is said.
 */
export const limits = {
  /** A file of a project or of the settings: `compose.yml`, `.env`, `container.json`, `platform.json`, `berth.yaml`. */
  file: 1024 * 1024,
  /** The value of a variable, once the variables in it are put in. */
  value: 64 * 1024,
  /** How deep arrays and objects may be nested in JSON. */
  jsonDepth: 64,
  /** How deep collections may be nested in YAML. */
  yamlDepth: 64,
  /** The names, values, signs and line breaks of a YAML text: what reading it costs. */
  yamlTokens: 50_000,
  /** The same for the proxy file, which holds the routes of every application: some 1,000 of them. */
  proxyTokens: 150_000,
  /** The anchors and aliases of a YAML text. */
  yamlAliases: 1_000
} as const
