/**
 * Limits of input that others wrote: users' files, requests, and the answers of platforms and servers. Input over a
 * limit is refused with a message that names it. Bytes unless stated otherwise.
 */
export const limits = {
  /** A file of a project or of the settings: `compose.yml`, `.env`, `container.json`, `platform.json`, `berth.yaml`. */
  file: 1024 * 1024,
  /** The value of a variable, once the variables in it are put in. */
  value: 64 * 1024,
  /** Maximum nesting of arrays and objects in JSON. */
  jsonDepth: 64,
  /** Maximum nesting of collections in YAML. */
  yamlDepth: 64,
  /** The names, values, signs and line breaks of a YAML text: what reading it costs. */
  yamlTokens: 50_000,
  /** The same for the proxy file, which holds the routes of every application: some 1,000 of them. */
  proxyTokens: 150_000,
  /** The anchors and aliases of a YAML text. */
  yamlAliases: 1_000
} as const
