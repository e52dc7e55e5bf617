/**
 * Limits of untrusted input: users' files, requests, and responses of platforms and servers. Input over a limit is
 * refused with a message that names it. In bytes unless stated otherwise.
 */
export const limits = {
  /** A file of a project or of the settings: `compose.yml`, `.env`, `container.json`, `platform.json`, `berth.yaml`. */
  file: 1024 * 1024,
  /** Value of a variable after interpolation. */
  value: 64 * 1024,
  /** Maximum nesting of arrays and objects in JSON. */
  jsonDepth: 64,
  /** Maximum nesting of collections in YAML. */
  yamlDepth: 64,
  /** Names, values, punctuation and line breaks in YAML, which determine the cost of parsing. */
  yamlTokens: 50_000,
  /** Tokens of the proxy file, which contains the routes of every application: enough for about 1,000. */
  proxyTokens: 150_000,
  /** Anchors and aliases in YAML. */
  yamlAliases: 1_000
} as const
