import { Effect, Option } from "effect"
import { jumpShape, parseJumpHosts } from "../../schema/servers/jumpHosts.ts"
import { usualSshPort } from "../../schema/servers/Server.ts"
import type { SshDefaults } from "../../schema/servers/SshDefaults.ts"
import { cut } from "../../schema/words/quoted.ts"
import { LocalFiles } from "../local/LocalFiles.ts"
import { readUserKnownHost, SshClient } from "./SshClient.ts"
import { readSshHost, type SshSetting, withTokens } from "./sshConfig.ts"

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535

type Field = SshDefaults["from"][number]["field"]
type Fill = (text: string) => Option.Option<string>

/** Collects the origin of each default, and warnings about settings that were left out. */
const makeOrigins = (unread: ReadonlyArray<string>) => {
  const from: Array<SshDefaults["from"][number]> = []
  const warnings = [...unread]
  return {
    from,
    warnings,
    taken: (field: Field, { file, line }: SshSetting): void => void from.push({ field, file, line }),
    leftOut: ({ file, line, value }: SshSetting): void => void warnings.push(`${file}:${line}: ${value} was left out`)
  }
}
type Origins = ReturnType<typeof makeOrigins>

/** First IdentityFile that exists; `none` ends the list. */
const findKeyFile = Effect.fn("findKeyFile")(function*(
  identityFiles: ReadonlyArray<SshSetting>,
  fill: Fill,
  { leftOut, taken }: Origins
) {
  const files = yield* LocalFiles
  const { directory, home } = yield* SshClient
  const toAbsolute = (text: string) =>
    text.startsWith("~/") ? `${home}${text.slice(1)}` : text.startsWith("/") ? text : `${directory}/${text}`
  for (const setting of identityFiles) {
    if (setting.value.toLowerCase() === "none") break
    const path = Option.map(fill(setting.value), toAbsolute)
    if (Option.isNone(path)) leftOut(setting)
    else if (Option.isSome(yield* Effect.orElseSucceed(files.find(path.value), Option.none))) {
      taken("privateKey", setting)
      return path.value
    }
  }
  return null
})

/** Reads the first one of ProxyJump and ProxyCommand, which is the one that applies. */
const readProxy = (values: ReadonlyMap<string, SshSetting>, fill: Fill, { taken, warnings }: Origins) => {
  const direct = { jump: null, jumpRefused: null, proxyCommand: null }
  const [first] = [...values].filter(([keyword]) => keyword === "proxyjump" || keyword === "proxycommand")
  if (first === undefined || first[1].value.toLowerCase() === "none") return direct
  const [keyword, setting] = first
  if (keyword === "proxycommand") return { ...direct, proxyCommand: setting.value.slice(0, 300) }
  const jump = Option.filter(fill(setting.value), (text) => parseJumpHosts(text) !== undefined)
  if (Option.isSome(jump)) {
    taken("jump", setting)
    return { ...direct, jump: jump.value }
  }
  // Without its jump hosts, the address may belong to another machine.
  const jumpRefused = `${setting.file}:${setting.line}: ${cut(setting.value)} ${jumpShape}`
  warnings.push(jumpRefused)
  return { ...direct, jumpRefused }
}

/** Defaults for a host or alias from `~/.ssh/config` and `known_hosts` of this machine's user. */
export const readSshDefaults = Effect.fn("readSshDefaults")(function*(
  { host: alias }: { readonly host: string }
): Effect.fn.Return<SshDefaults, never, LocalFiles> {
  const client = yield* SshClient
  const { identityFiles, isNamed, unread, values } = yield* readSshHost(client.home, client.directory, alias)
  const origins = makeOrigins(unread)
  const read = <A>(field: Field, keyword: string, decode: (text: string) => Option.Option<A>): Option.Option<A> => {
    const setting = values.get(keyword)
    if (setting === undefined) return Option.none()
    const value = decode(setting.value)
    if (Option.isSome(value)) origins.taken(field, setting)
    else origins.leftOut(setting)
    return value
  }
  const host = Option.getOrElse(read("host", "hostname", (text) => withTokens(text, { h: alias })), () => alias)
  const port = Option.getOrNull(
    read("port", "port", (text) => isPort(text) ? Option.some(Number(text)) : Option.none())
  )
  const username = Option.getOrElse(read("username", "user", Option.some), () => client.user)
  const common = { h: host, n: alias, r: username, p: String(port ?? usualSshPort) }
  const ofKeyFile = {
    ...common,
    d: client.home,
    get u() {
      return client.user
    }
  }
  const privateKey = yield* findKeyFile(identityFiles, (text) => withTokens(text, ofKeyFile), origins)
  const proxy = readProxy(values, (text) => withTokens(text, common), origins)
  const { keys } = yield* readUserKnownHost({ host, port: port ?? usualSshPort })
  const { from, warnings } = origins
  return { isNamed, host, port, username, privateKey, ...proxy, from, isKnown: keys.length > 0, warnings }
})
