import { Context, Effect, Option } from "effect"
import { createHmac } from "node:crypto"
import { join } from "node:path"
import { usualSshPort } from "../../schema/servers.ts"
import { computeFingerprint, HostKeys, type KeyMismatch, withRequiredKeys } from "../HostKeys.ts"
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
const matchesPatterns = (text: string, patterns: ReadonlyArray<string>): boolean => {
  const negated = patterns.filter((pattern) => pattern.startsWith("!"))
  return !negated.some((pattern) => matchesPattern(text, pattern.slice(1))) &&
    patterns.some((pattern) => !pattern.startsWith("!") && matchesPattern(text, pattern))
}

/** The keys that a `known_hosts` file has for a host, as fingerprints. */
export interface KnownHost {
  readonly keys: ReadonlyArray<{ readonly type: string; readonly fingerprint: string }>
  readonly revoked: ReadonlyArray<string>
}

const mostLines = 20_000

const isHashOf = (hashed: string, name: string): boolean => {
  const [, salt = "", hash = ""] = /^\|1\|([A-Za-z0-9+/=]{1,100})\|([A-Za-z0-9+/=]{1,100})$/.exec(hashed) ?? []
  return salt !== "" && createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest("base64") === hash
}

/**
 * Finds the keys of a host in a `known_hosts` text: plain and hashed names, patterns, `[host]:port` and `@revoked`.
 * Ignores keys of certificate authorities, since Berth does not verify certificates.
 */
export const findKnownHost = (text: string, host: string, port: number): KnownHost => {
  const name = port === usualSshPort ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`
  const found = text.split("\n", mostLines).flatMap((row) => {
    const words = row.trim().slice(0, 32_768).split(/\s+/)
    const marker = words[0]?.startsWith("@") === true ? words[0] : ""
    const [names = "", type = "", key = ""] = marker === "" ? words : words.slice(1)
    if (names === "" || names.startsWith("#") || key === "" || !/^(@revoked)?$/.test(marker)) return []
    const isMeant = names.startsWith("|")
      ? isHashOf(names, name)
      : matchesPatterns(name, names.toLowerCase().split(","))
    return isMeant ? [{ marker, type, fingerprint: computeFingerprint(Buffer.from(key, "base64")) }] : []
  })
  return {
    keys: found.filter(({ marker }) => marker === "").map(({ fingerprint, type }) => ({ type, fingerprint })),
    revoked: found.filter(({ marker }) => marker !== "").map(({ fingerprint }) => fingerprint)
  }
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
  /** Empty for a user id without a name, as containers have. */
  readonly user: string
  /** Further lines of `known_hosts`, which jobs have in a variable instead of a file. */
  readonly knownHosts?: string | undefined
}

/** Variable with lines of `known_hosts`. */
const knownHostsVariable = "BERTH_KNOWN_HOSTS"

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
    get knownHosts() {
      return process.env[knownHostsVariable]
    }
  })
}) {}

/** Entries of the user's `known_hosts` for a host, and its path; no entries when it cannot be read. The variable counts too. */
export const readUserKnownHost = (
  { host, port }: { readonly host: string; readonly port: number }
): Effect.Effect<KnownHost & { readonly file: string }> =>
  Effect.gen(function*() {
    const { directory, knownHosts = "" } = yield* SshClient
    const file = join(directory, "known_hosts")
    const text = yield* Effect.orElseSucceed(readSshFile(file), () => "")
    const found = findKnownHost(`${knownHosts}\n${text}`, host, port)
    const isGiven = findKnownHost(knownHosts, host, port).keys.length > 0
    return { ...found, file: isGiven ? knownHostsVariable : file }
  })

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

type Service = Context.Tag.Service<HostKeys>

const judgeByUser = (
  standing: KeyMismatch | "known" | "new",
  { file, keys, revoked }: KnownHost & { readonly file: string },
  presented: string
): KeyMismatch | "known" | "new" => {
  const others = keys.map((key) => key.fingerprint)
  if (revoked.includes(presented)) return { remembered: others.join(" or "), presented, file, isRevoked: true }
  if (standing !== "new" || others.length === 0) return standing
  return others.includes(presented) ? "known" : { remembered: others.join(" or "), presented, file }
}

/**
 * Adds the user's known_hosts to Berth's own keys: a key that is new to Berth is known if the file contains it, and a
 * mismatch if the file contains only others. The types of its keys are negotiated first, as in OpenSSH. A key that the
 * settings require is the only one accepted, unless the file marks it as revoked.
 */
export const withUserKnownHosts = (stored: Service): Service => {
  const keys = withRequiredKeys(stored)
  const standing: Service["standing"] = (server, key) =>
    Effect.zipWith(
      keys.standing(server, key),
      readUserKnownHost(server),
      (own, known) => judgeByUser(own, known, computeFingerprint(key.blob))
    )
  return HostKeys.of({
    ...keys,
    standing,
    knownTypes: (server) =>
      Effect.flatMap(keys.knownTypes(server), (own) =>
        own.length > 0
          ? Effect.succeed(own)
          : Effect.map(readUserKnownHost(server), (known) => known.keys.map(({ type }) => type))),
    check: (server, key) =>
      Effect.flatMap(
        standing(server, key),
        (judged) => typeof judged === "object" ? Effect.succeed(judged) : keys.check(server, key)
      )
  })
}

/** Refuses new keys and stores none; for the jump hosts of a server that is not stored yet. */
export const refuseNewKeys = (keys: Service): Service => {
  const known = withUserKnownHosts(keys)
  return HostKeys.of({
    ...known,
    check: (server, key) =>
      Effect.map(
        known.standing(server, key),
        (standing) =>
          standing === "new" ? { remembered: "", presented: computeFingerprint(key.blob), file: keys.file } : standing
      )
  })
}
