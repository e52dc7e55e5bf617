import { Effect, Option } from "effect"
import { listDirectoryNames } from "../local/openRegular.ts"
import { matchesPattern, matchesPatterns } from "./matchesPatterns.ts"
import { readSshFile } from "./sshFile.ts"

/** A value of the SSH client's settings, and its location. */
export interface SshSetting {
  readonly value: string
  readonly file: string
  readonly line: number
}

/** Settings of a host in `ssh_config` files: the first value of each keyword, and all key files. */
export interface SshHost {
  /** True when a `Host` section names the host, other than one for all hosts. */
  readonly isNamed: boolean
  readonly values: ReadonlyMap<string, SshSetting>
  readonly identityFiles: ReadonlyArray<SshSetting>
  /** Reason why a file was skipped. */
  readonly unread: ReadonlyArray<string>
}

const deepest = 16
const mostFiles = 64
const mostWords = 200
const wanted = new Set(["hostname", "port", "user", "proxyjump", "proxycommand"])

/** Splits a line into words: a quoted text is one word, and `#` begins a comment. */
const wordsOf = (text: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  for (const [, quoted, bare] of text.matchAll(/"([^"]*)"|([^\s"]+)/g)) {
    if (bare?.startsWith("#") === true || words.length === mostWords) break
    words.push(quoted ?? bare ?? "")
  }
  return words
}

const lineOf = (text: string): readonly [keyword: string, args: ReadonlyArray<string>] | undefined => {
  const [, keyword, rest = ""] = /^\s*([A-Za-z]\w*)(?:\s*=\s*|\s+)(\S.*)$/.exec(text.slice(0, 4_096)) ?? []
  return keyword === undefined ? undefined : [keyword.toLowerCase(), wordsOf(rest)]
}

const matches = (criteria: ReadonlyArray<string>, host: string): boolean => {
  if (criteria.length === 1) return criteria[0]?.toLowerCase() === "all"
  // Sections with conditions on programs, users or networks are skipped: Berth executes no programs here.
  const pairs = Array.from(
    { length: Math.ceil(criteria.length / 2) },
    (_, index) => criteria.slice(index * 2, index * 2 + 2)
  )
  return pairs.length > 0 &&
    pairs.every(([name = "", list = ""]) => /^(original)?host$/i.test(name) && matchesPatterns(host, list.split(",")))
}

/**
 * Reads the settings of a host in a user's `config` as ssh_config(5) specifies: the first value wins, and `Include`d
 * files belong to the section that includes them.
 * @param directory `~/.ssh`
 */
export const readSshHost = (home: string, directory: string, host: string): Effect.Effect<SshHost> =>
  Effect.gen(function*() {
    const values = new Map<string, SshSetting>()
    const identityFiles: Array<SshSetting> = []
    const unread: Array<string> = []
    let isNamed = false
    let files = 0

    const absolute = (path: string) =>
      path.startsWith("~/") ? `${home}${path.slice(1)}` : path.startsWith("/") ? path : `${directory}/${path}`
    const included = (pattern: string) =>
      Effect.gen(function*() {
        const path = absolute(pattern)
        const slash = path.lastIndexOf("/")
        const [parent, name] = [path.slice(0, slash), path.slice(slash + 1)]
        if (!/[*?]/.test(name)) return [path]
        const names = yield* Effect.orElseSucceed(listDirectoryNames(parent), () => [])
        return names.filter((entry) => !entry.name.startsWith(".") && matchesPattern(entry.name, name))
          .map((entry) => `${parent}/${entry.name}`)
      })

    const read = (file: string, isOutside: boolean, depth: number): Effect.Effect<void> =>
      Effect.gen(function*() {
        if (depth > deepest || ++files > mostFiles) return void unread.push(`${file} is included too deeply`)
        const text = yield* Effect.either(readSshFile(file))
        if (text._tag === "Left") {
          if (text.left.code !== "ENOENT") unread.push(`${file} ${text.left.message}`)
          return
        }
        let isActive = isOutside
        for (const [index, row] of text.right.split("\n").entries()) {
          const [keyword, args] = lineOf(row) ?? ["", []]
          if (keyword === "host") {
            isActive = isOutside && matchesPatterns(host, args)
            if (isActive && args.some((pattern) => !/^[*?!]/.test(pattern) && matchesPattern(host, pattern))) {
              isNamed = true
            }
          } else if (keyword === "match") isActive = isOutside && matches(args, host)
          else if (!isActive) continue
          else if (keyword === "include") {
            for (const pattern of args) {
              for (const path of yield* included(pattern)) yield* read(path, true, depth + 1)
            }
          } else {
            const value = keyword === "proxycommand" ? args.join(" ") : args[0] ?? ""
            const setting = { value, file, line: index + 1 }
            if (value === "") continue
            if (keyword === "identityfile") identityFiles.push(setting)
            else if (wanted.has(keyword) && !values.has(keyword)) values.set(keyword, setting)
          }
        }
      })

    yield* read(`${directory}/config`, true, 0)
    return { isNamed, values, identityFiles: identityFiles.slice(0, 20), unread }
  }).pipe(Effect.withSpan("sshHost"))

/** Expands the tokens of ssh_config(5) in a path or name; none if it contains other tokens. */
export const withTokens = (text: string, tokens: Readonly<Record<string, string>>): Option.Option<string> => {
  let isKnown = !text.includes("${")
  const filled = text.replace(/%(.?)/g, (_, token: string) => {
    if (token === "%") return "%"
    const value = tokens[token]
    if (value === undefined) isKnown = false
    return value ?? ""
  })
  return isKnown ? Option.some(filled) : Option.none()
}
