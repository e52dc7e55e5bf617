/** Part of a pattern: a character, any number of them, or directories that may be left out. */
type Token =
  | { readonly kind: "character"; readonly matches: (character: string) => boolean }
  /** `*`: any characters but `/`. */
  | { readonly kind: "name" }
  /** `**` at the end: any characters. */
  | { readonly kind: "all" }
  /** `**` before something else: nothing, or any characters and a `/`. */
  | { readonly kind: "directories" }

/** A line of a `.dockerignore`. */
interface IgnorePattern {
  /** True for a line with `!`, which takes files back. */
  readonly isNegated: boolean
  readonly tokens: ReadonlyArray<Token>
  /** Names at its beginning that have no wildcard, joined by `/`. */
  readonly prefix: string
  readonly isLiteral: boolean
}

/** Normalizes a path as Go's `filepath.Clean` does. */
const cleanPath = (text: string): string => {
  const isAbsolute = text.startsWith("/")
  const kept: Array<string> = []
  for (const segment of text.split("/")) {
    if (segment === "" || segment === ".") continue
    if (segment !== "..") kept.push(segment)
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop()
    else if (!isAbsolute) kept.push(segment)
  }
  const clean = (isAbsolute ? "/" : "") + kept.join("/")
  return clean === "" ? "." : clean
}

const exactly = (wanted: string): Token => ({ kind: "character", matches: (character) => character === wanted })

const toCode = (character: string) => character.codePointAt(0) ?? 0

/** Reads a class such as `[a-z]`, from behind its `[`; undefined if it does not end. */
const readClass = (pattern: ReadonlyArray<string>, from: number) => {
  const isNegated = pattern[from] === "^"
  const ranges: Array<readonly [first: string, last: string]> = []
  let at = isNegated ? from + 1 : from
  const take = () => {
    if (pattern[at] === "\\") at += 1
    const character = pattern[at]
    at += 1
    return character
  }
  while (pattern[at] !== "]" || ranges.length === 0) {
    const first = take()
    if (first === undefined) return undefined
    if (pattern[at] !== "-" || pattern[at + 1] === "]") {
      ranges.push([first, first])
      continue
    }
    at += 1
    const last = take()
    if (last === undefined) return undefined
    ranges.push([first, last])
  }
  const isIn = (character: string) =>
    ranges.some(([first, last]) => toCode(first) <= toCode(character) && toCode(character) <= toCode(last))
  const token: Token = { kind: "character", matches: (character) => isIn(character) !== isNegated }
  return { token, end: at + 1 }
}

const wildcards = /[*?[\]\\]/

/** Reads a pattern by the rules of Docker's own matcher; undefined if Docker refuses it. */
const readTokens = (text: string): ReadonlyArray<Token> | undefined => {
  // Docker compares code points, as `matchTokens` does.
  const pattern = [...text]
  const tokens: Array<Token> = []
  for (let at = 0; at < pattern.length;) {
    const character = pattern[at] ?? ""
    at += 1
    if (character === "*" && pattern[at] === "*") {
      at += 1
      // Docker compares the end of the path alone where nothing else in the pattern is special.
      if (at === 2 && !wildcards.test(pattern.slice(at).join("")) && pattern[at] !== "/") {
        tokens.push({ kind: "all" })
        continue
      }
      if (pattern[at] === "/") at += 1
      tokens.push({ kind: at === pattern.length ? "all" : "directories" })
    } else if (character === "*") tokens.push({ kind: "name" })
    else if (character === "?") tokens.push({ kind: "character", matches: (each) => each !== "/" })
    else if (character === "\\" && at < pattern.length) {
      tokens.push(exactly(pattern[at] ?? ""))
      at += 1
    } else if (character === "[") {
      const found = readClass(pattern, at)
      if (found === undefined) return undefined
      tokens.push(found.token)
      at = found.end
    } else tokens.push(exactly(character))
  }
  return tokens
}

/** Matches a whole path, in time that grows with the product of both lengths, whatever the pattern. */
const matchTokens = (tokens: ReadonlyArray<Token>, path: string): boolean => {
  const length = tokens.length + 1
  /** Tokens that may come next, also those after one that may match nothing. */
  let states = new Uint8Array(length)
  /** Directories that have begun, which only a `/` may end. */
  let inside = new Uint8Array(length)
  const begin = (next: Uint8Array<ArrayBuffer>) => {
    for (const [at, token] of tokens.entries()) {
      if (next[at] === 1 && token.kind !== "character") next[at + 1] = 1
    }
    return next
  }
  states[0] = 1
  begin(states)
  for (const character of path) {
    const next = new Uint8Array(length)
    const within = new Uint8Array(length)
    for (const [at, token] of tokens.entries()) {
      if (token.kind === "directories" && (states[at] === 1 || inside[at] === 1)) {
        within[at] = 1
        if (character === "/") next[at + 1] = 1
      }
      if (states[at] !== 1) continue
      if (token.kind === "character" && token.matches(character)) next[at + 1] = 1
      if (token.kind === "all" || (token.kind === "name" && character !== "/")) next[at] = 1
    }
    states = begin(next)
    inside = within
  }
  return states[tokens.length] === 1
}

const readPattern = (line: string, number: number): IgnorePattern | string | undefined => {
  if (line.startsWith("#")) return undefined
  const trimmed = line.trim()
  if (trimmed === "") return undefined
  const isNegated = trimmed.startsWith("!")
  const written = isNegated ? trimmed.slice(1).trim() : trimmed
  if (written === "") return `line ${number} has "!" alone`
  const clean = cleanPath(written)
  const pattern = clean.length > 1 && clean.startsWith("/") ? clean.slice(1) : clean
  // Docker takes "." for a pattern that matches nothing.
  if (pattern === ".") return undefined
  const tokens = readTokens(pattern)
  if (tokens === undefined) return `line ${number} has a "[" without its "]"`
  const names = pattern.split("/")
  const wild = names.findIndex((name) => wildcards.test(name))
  return {
    isNegated,
    tokens,
    prefix: (wild < 0 ? names : names.slice(0, wild)).join("/"),
    isLiteral: wild < 0
  }
}

/** Results of the patterns of a `.dockerignore` for a directory, for what is in it. */
type ParentMatches = ReadonlyArray<boolean>

/** Patterns of a `.dockerignore`. */
export interface DockerIgnore {
  /**
   * Tests a path of the context.
   * @param parents result for the directory that it is in
   */
  readonly test: (
    path: string,
    parents?: ParentMatches
  ) => { readonly ignored: boolean; readonly matches: ParentMatches }
  /** True if a negated pattern may take back what is below an ignored directory. */
  readonly mayTakeBack: (directory: string) => boolean
}

/**
 * Reads a `.dockerignore` as Docker does: the last line that matches a path or a directory above it decides. Returns the
 * reason if Docker would refuse the file.
 */
export const parseDockerIgnore = (text: string): DockerIgnore | string => {
  const patterns: Array<IgnorePattern> = []
  for (const [index, line] of text.replace(/^\uFEFF/, "").split(/\r?\n/).entries()) {
    const pattern = readPattern(line, index + 1)
    if (typeof pattern === "string") return pattern
    if (pattern !== undefined) patterns.push(pattern)
  }
  return {
    test: (path, parents = []) => {
      const matches = patterns.map(({ isLiteral, prefix, tokens }, index) =>
        parents[index] === true || (isLiteral ? prefix === path : matchTokens(tokens, path))
      )
      return { matches, ignored: patterns[matches.lastIndexOf(true)]?.isNegated === false }
    },
    mayTakeBack: (directory) =>
      patterns.some(({ isLiteral, isNegated, prefix }) =>
        isNegated &&
        (`${prefix}/`.startsWith(`${directory}/`) ||
          (!isLiteral && (prefix === "" || `${directory}/`.startsWith(`${prefix}/`))))
      )
  }
}
