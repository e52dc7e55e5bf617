import { Array, Context, Effect, Option } from "effect"
import { dirname, join } from "node:path"
import { cut } from "../../schema/words.ts"
import { listDirectoryNames, NotReadable, openRegular } from "../local/LocalFiles.ts"
import { readUserName, resolveHomeDirectory } from "../local/user.ts"

/** Matches a pattern of `*` and `?` in time proportional to the product of both lengths. */
export const matchesPattern = (text: string, pattern: string): boolean => {
  let [at, part, star, from] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[part] === "*") {
      star = part++
      from = at
    } else if (pattern[part] === "?" || pattern[part] === text[at]) {
      part += 1
      at += 1
    } else if (star >= 0) {
      part = star + 1
      at = ++from
    } else return false
  }
  while (pattern[part] === "*") part += 1
  return part === pattern.length
}

/** True when one pattern matches, and none that is negated with `!`. */
export const matchesPatterns = (text: string, patterns: ReadonlyArray<string>): boolean => {
  const negated = patterns.filter((pattern) => pattern.startsWith("!"))
  return !negated.some((pattern) => matchesPattern(text, pattern.slice(1))) &&
    patterns.some((pattern) => !pattern.startsWith("!") && matchesPattern(text, pattern))
}

const mebibyte = 1024 * 1024

/**
 * Reads a file of the SSH client, up to 1 MiB. As OpenSSH requires, it must belong to this user or root, and others
 * must not be able to write to it. Links are followed, and the target is checked.
 */
const readSshFile = (path: string): Effect.Effect<string, NotReadable> =>
  Effect.scoped(Effect.gen(function*() {
    const file = yield* openRegular(path)
    const refuse = (message: string) => new NotReadable({ code: "", message })
    const info = yield* Effect.tryPromise({ try: () => file.stat(), catch: () => refuse("cannot be read") })
    const isTrusted = process.platform === "win32" ||
      ((info.uid === 0 || info.uid === process.geteuid?.()) && (info.mode & 0o022) === 0)
    if (!isTrusted) return yield* refuse("belongs to another user, or others may change it")
    if (info.size > mebibyte) return yield* refuse("is larger than 1 MiB")
    return yield* Effect.tryPromise({ try: () => file.readFile("utf8"), catch: () => refuse("cannot be read") })
  }))

/** Files of the SSH client of this process's user. */
interface SshClientPlace {
  readonly home: string
  readonly directory: string
  /** Settings for all users of this machine, which count after the user's own. */
  readonly systemConfig?: string | undefined
  /** Empty for a user id without a name, as containers have. */
  readonly user: string
  /** Further lines of `known_hosts`, which jobs have in a variable instead of a file. */
  readonly knownHosts?: string | undefined
}

/** Variable with lines of `known_hosts`. */
export const knownHostsVariable = "BERTH_KNOWN_HOSTS"

/** Location of the SSH client's files; replaced in tests. */
export class SshClient extends Context.Reference<SshClient>()("berth/SshClient", {
  // The default is created once per process; its getters read the environment on each access.
  defaultValue: (): SshClientPlace => ({
    get home() {
      return resolveHomeDirectory()
    },
    get directory() {
      return join(resolveHomeDirectory(), ".ssh")
    },
    get user() {
      return readUserName()
    },
    systemConfig: process.platform === "win32" ? undefined : "/etc/ssh/ssh_config",
    get knownHosts() {
      return process.env[knownHostsVariable]
    }
  })
}) {}

/** A value of the SSH client's settings, and its location. */
export interface SshSetting {
  readonly value: string
  readonly file: string
  readonly line: number
}

/** Settings of a host in `ssh_config` files: the first value of each keyword, and all key files. */
interface SshHost {
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

/**
 * Splits the arguments of a line as OpenSSH does: quotes hold words together, a backslash takes a quote, a blank or
 * another one as it is, and a word with `#` begins a comment. Undefined if a quote is not closed.
 */
const wordsOf = (text: string): ReadonlyArray<string> | undefined => {
  const words: globalThis.Array<string> = []
  let [word, quote, isWord] = ["", "", false]
  for (let at = 0; at < text.length; at++) {
    const [letter = "", next = ""] = [text[at], text[at + 1]]
    if (!isWord && (letter === "#" || words.length === mostWords)) return words
    if (quote === "" && /[ \t]/.test(letter)) {
      if (isWord) words.push(word)
      ;[word, isWord] = ["", false]
      continue
    }
    isWord = true
    if (letter === "\\" && (/['"\\]/.test(next) || (quote === "" && next === " "))) word += text[++at]
    else if (letter === quote) quote = ""
    else if (quote === "" && /['"]/.test(letter)) quote = letter
    else word += letter
  }
  if (quote !== "") return undefined
  return isWord ? [...words, word] : words
}

/** Keyword of a line and what stands behind it, without blanks and the carriage return at its end. */
const lineOf = (text: string): readonly [keyword: string, rest: string] | undefined => {
  const [, keyword, rest = ""] = /^[ \t\f]*([A-Za-z]\w*)(?:[ \t]*=[ \t]*|[ \t]+)(\S.*)$/.exec(
    text.slice(0, 4_096).trimEnd()
  ) ?? []
  return keyword === undefined ? undefined : [keyword.toLowerCase(), rest]
}

/** Values that the criteria of a `Match` line are compared with. */
interface Matched {
  /** Host as the user named it. */
  readonly original: string
  /** Its `HostName` so far. */
  readonly host: string
  readonly user: string
  readonly localUser: string
  /** True the second time that the files are read, since a `Match final` asks for it. */
  readonly isFinal: boolean
}

/** True if all criteria hold; the criterion itself if it is one that Berth cannot follow, as it runs no programs here. */
const matches = (criteria: ReadonlyArray<string>, of: Matched): boolean | string => {
  const left = [...criteria]
  let holds = true
  while (left.length > 0) {
    const [, not = "", name = "", given] = /^(!?)([^=]*)(?:=(.*))?$/s.exec(left.shift() ?? "") ?? []
    const kind = name.toLowerCase()
    const isUnary = kind === "all" || kind === "canonical" || kind === "final"
    const list = isUnary ? [] : (given ?? left.shift() ?? "").split(",")
    const lower = list.map((pattern) => pattern.toLowerCase())
    const is = kind === "all"
      ? true
      : isUnary
      ? of.isFinal
      : kind === "host"
      ? matchesPatterns(of.host.toLowerCase(), lower)
      : kind === "originalhost"
      ? matchesPatterns(of.original.toLowerCase(), lower)
      : kind === "user"
      ? matchesPatterns(of.user, list)
      : kind === "localuser"
      ? matchesPatterns(of.localUser, list)
      : undefined
    if (is === undefined && holds) return `${not}${cut(name)}`
    holds &&= is === (not === "")
  }
  return holds && criteria.length > 0
}

/**
 * Reads the settings of a host in a user's `config` and in that of the machine as ssh_config(5) specifies: the first
 * value wins, and `Include`d files belong to the section that includes them.
 * @param client directories of the user and of their SSH client, and the user's name
 */
export const readSshHost = (
  client: Pick<SshClientPlace, "directory" | "home" | "systemConfig" | "user">,
  host: string
): Effect.Effect<SshHost> =>
  Effect.gen(function*() {
    const { directory, home, systemConfig } = client
    const values = new Map<string, SshSetting>()
    const identityFiles: globalThis.Array<SshSetting> = []
    const unread = new Set<string>()
    let [isNamed, wantsFinal, isFinal] = [false, false, false]
    const addressOf = (text: string) => Option.getOrElse(withTokens(text, { h: host }), () => text)
    let files = 0

    const absolute = (path: string, base: string) =>
      path.startsWith("~/") ? `${home}${path.slice(1)}` : path.startsWith("/") ? path : `${base}/${path}`
    /** Paths that a pattern names, in their order: `*` and `?` in any of its parts. */
    const included = (pattern: string, base: string) =>
      Effect.gen(function*() {
        const [root = "", ...parts] = absolute(pattern, base).split("/")
        let paths: ReadonlyArray<string> = [root]
        for (const part of parts) {
          const inEach = (parent: string) =>
            Effect.map(
              Effect.orElseSucceed(listDirectoryNames(`${parent}/`), () => []),
              (entries) =>
                entries.flatMap(({ name }) =>
                  (part.startsWith(".") || !name.startsWith(".")) && matchesPattern(name, part)
                    ? [`${parent}/${name}`]
                    : []
                )
            )
          paths = /[*?]/.test(part)
            ? (yield* Effect.forEach(paths.slice(0, mostFiles), inEach)).flat()
            : paths.map((parent) => `${parent}/${part}`)
        }
        return paths
      })
    const matched = (): Matched => {
      const address = addressOf(values.get("hostname")?.value ?? "%h")
      return {
        original: host,
        host: isFinal ? address.toLowerCase() : address,
        // Looked up only where a criterion needs it.
        get user() {
          return values.get("user")?.value ?? client.user
        },
        get localUser() {
          return client.user
        },
        isFinal
      }
    }

    /**
     * @param base directory of relative paths
     * @param isNever true for a file that an inactive section includes: it applies to no host, and may ask for `final`
     */
    const read = (file: string, base: string, depth = 0, isNever = false): Effect.Effect<void> =>
      Effect.gen(function*() {
        if (depth > deepest || ++files > mostFiles) {
          return void unread.add(`${file} is included too deeply`)
        }
        const text = yield* Effect.either(readSshFile(file))
        if (text._tag === "Left") {
          if (text.left.code !== "ENOENT") {
            unread.add(`${file} ${text.left.message}`)
          }
          return
        }
        let isActive = !isNever
        for (const [index, row] of text.right.split("\n").entries()) {
          const [keyword, rest] = lineOf(row) ?? ["", ""]
          const isRaw = keyword === "proxycommand"
          const args = isRaw ? [rest] : wordsOf(rest)
          const leaveOut = (why: string) => unread.add(`${file}:${index + 1}: ${why}`)
          if (args === undefined) {
            if (isActive) leaveOut("a quote is not closed, so that the line was left out")
          } else if (keyword === "host") {
            // The second time its address counts.
            isActive = !isNever && matchesPatterns(isFinal ? matched().host : host, args)
            if (isActive && args.some((pattern) => !/^[*?!]/.test(pattern) && matchesPattern(host, pattern))) {
              isNamed = true
            }
          } else if (keyword === "match") {
            wantsFinal ||= args.some((word) => /^!?final$/i.test(word))
            const is = matches(args, matched())
            if (typeof is === "string" && !isNever) {
              leaveOut(`Match ${is} is nothing that Berth can follow, so that the section was left out`)
            }
            isActive = !isNever && is === true
          } else if (keyword === "include") {
            for (const pattern of args) {
              if (!/[[{]/.test(pattern)) {
                for (const path of yield* included(pattern, base)) yield* read(path, base, depth + 1, !isActive)
              } else if (isActive) leaveOut(`${cut(pattern)} was left out: Berth knows * and ? in it alone`)
            }
          } else if (!isActive) continue
          else if (keyword === "canonicalizehostname" && !/^(no|none)$/i.test(args[0] ?? "")) {
            leaveOut("CanonicalizeHostname is nothing that Berth can follow")
          } else {
            const setting = { value: args[0] ?? "", file, line: index + 1 }
            // Machines of a directory service have one for all hosts, which leads nowhere but there.
            if (keyword === "proxycommand" && base !== directory && !/^none$/i.test(setting.value)) {
              leaveOut("the ProxyCommand of all users was left out: Berth runs none")
              continue
            }
            // The address stands once all files were read.
            if (setting.value === "" || (isFinal && keyword === "hostname")) continue
            if (keyword === "identityfile") identityFiles.push(setting)
            else if (wanted.has(keyword) && !values.has(keyword)) values.set(keyword, setting)
          }
        }
      })

    const readAll = Effect.zipRight(
      read(`${directory}/config`, directory),
      systemConfig === undefined ? Effect.void : read(systemConfig, dirname(systemConfig))
    )
    yield* readAll
    if (wantsFinal) {
      ;[isFinal, files] = [true, 0]
      yield* readAll
    }
    return {
      isNamed,
      values,
      identityFiles: Array.dedupeWith(identityFiles, (one, other) => one.value === other.value).slice(0, 20),
      unread: [...unread]
    }
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
