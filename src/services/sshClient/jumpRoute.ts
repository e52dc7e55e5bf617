import { Effect, Option } from "effect"
import { type JumpHost, jumpShape, mostJumps, parseJumpHosts, usualSshPort } from "../../schema/servers.ts"
import { type Credentials, JumpRefused, type ServerAccess, type SshDefaults } from "../../schema/ssh.ts"
import { cut, quoteInput } from "../../schema/words.ts"
import { LocalFiles } from "../local/LocalFiles.ts"
import { readSshHost, SshClient, type SshSetting, withTokens } from "./clientConfig.ts"
import { readUsersKeys } from "./knownHosts.ts"

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

/** Reads the first one of ProxyJump and ProxyCommand, which is the one that applies; `ProxyJump none` leaves the other one. */
const readProxy = (values: ReadonlyMap<string, SshSetting>, fill: Fill, { taken, warnings }: Origins) => {
  const direct = { jump: null, jumpRefused: null, proxyCommand: null }
  const isNone = ({ value }: SshSetting) => value.toLowerCase() === "none"
  const [first] = [...values].filter(([keyword, setting]) =>
    keyword === "proxycommand" || (keyword === "proxyjump" && !isNone(setting))
  )
  if (first === undefined || isNone(first[1])) return direct
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
  const { identityFiles, isNamed, unread, values } = yield* readSshHost(client, alias)
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
  // The test of the server says what is wrong with a file that cannot be read.
  const keys = yield* Effect.orElseSucceed(readUsersKeys({ host, port: port ?? usualSshPort }), () => [])
  const { from, warnings } = origins
  return {
    isNamed,
    host,
    port,
    username,
    privateKey,
    ...proxy,
    from,
    isKnown: keys.some(({ isRevoked }) => !isRevoked),
    warnings
  }
})

/** Address of a jump host; matches any user if it does not name one. */
export interface JumpAddress {
  readonly host: string
  readonly port: number
  readonly username: string | undefined
}

/**
 * Looks up a stored server by its address and the jump hosts before it. Behind other jump hosts the same address may be
 * another machine, which must not receive the credentials.
 */
type FindStored<E> = (
  address: JumpAddress,
  before: ReadonlyArray<JumpAddress>
) => Effect.Effect<Option.Option<ServerAccess>, E, LocalFiles>

const usualKeys = ["id_ed25519", "id_ecdsa", "id_rsa"]

/** Credentials of this user's SSH client: the given key file, or else a default one, and the agent. */
const clientCredentials = (privateKey: string | null): Effect.Effect<Credentials, never, LocalFiles> =>
  Effect.gen(function*() {
    if (privateKey !== null) return { privateKey, agent: true }
    const files = yield* LocalFiles
    const { directory } = yield* SshClient
    const found = yield* Effect.findFirst(
      usualKeys.map((name) => `${directory}/${name}`),
      (path) => Effect.map(Effect.orElseSucceed(files.find(path), Option.none), Option.isSome)
    )
    return { agent: true, ...Option.match(found, { onNone: () => ({}), onSome: (path) => ({ privateKey: path }) }) }
  })

const addressIn = (hop: JumpHost, defaults: SshDefaults): JumpAddress => ({
  host: defaults.host,
  port: hop.port ?? defaults.port ?? usualSshPort,
  username: hop.username ?? (defaults.from.some(({ field }) => field === "username") ? defaults.username : undefined)
})

/** Resolves the addresses of jump hosts; empty if the text cannot be parsed. */
export const resolveJumpAddresses = (jump: string): Effect.Effect<ReadonlyArray<JumpAddress>, never, LocalFiles> =>
  Effect.forEach(
    parseJumpHosts(jump) ?? [],
    (hop) => Effect.map(readSshDefaults({ host: hop.host }), (defaults) => addressIn(hop, defaults))
  )

/** Jump hosts of the SSH configuration for the first hop of a route. */
const configuredJump = ({ host }: JumpHost, { jump, jumpRefused, proxyCommand }: SshDefaults) => {
  const refuse = (why: string) => new JumpRefused({ reason: `leads through ${quoteInput(host)}, ${why}` })
  if (proxyCommand !== null) return refuse("which ~/.ssh/config reaches with a ProxyCommand: Berth runs none")
  return jumpRefused === null ? Effect.succeed(jump) : refuse(`whose ProxyJump cannot be used: ${jumpRefused}`)
}

/**
 * Resolves jump hosts to the last one, reached through the previous ones. Each logs in with the credentials of the
 * stored server with its address, which gives it its id, or else with those of the user's SSH client. As with OpenSSH, only the first one may
 * have jump hosts of its own.
 */
export const resolveJumpRoute = <E>(
  jump: string,
  findStored: FindStored<E>,
  depth = 0
): Effect.Effect<ServerAccess, E | JumpRefused, LocalFiles> =>
  Effect.gen(function*() {
    const hops = parseJumpHosts(jump)
    if (hops === undefined) return yield* new JumpRefused({ reason: jumpShape })
    if (depth === mostJumps) {
      return yield* new JumpRefused({ reason: `leads through more than ${mostJumps} jump hosts, perhaps in a circle` })
    }
    const before: Array<JumpAddress> = []
    let via: ServerAccess | undefined
    for (const hop of hops) {
      const defaults = yield* readSshDefaults({ host: hop.host })
      const address = addressIn(hop, defaults)
      const stored = Option.getOrUndefined(yield* findStored(address, before))
      if (via === undefined) {
        const own = stored === undefined ? yield* configuredJump(hop, defaults) : stored.jump ?? null
        if (own !== null) via = yield* resolveJumpRoute(own, findStored, depth + 1)
      }
      const username = stored?.username ?? address.username ?? defaults.username
      if (username === "") {
        return yield* new JumpRefused({ reason: `must name the user of ${quoteInput(hop.host)}: user@host` })
      }
      via = {
        id: stored?.id ?? "",
        name: `${username}@${address.host}:${address.port}`,
        host: address.host,
        port: address.port,
        username,
        useSudo: false,
        credentials: stored?.credentials ?? (yield* clientCredentials(defaults.privateKey)),
        ...(stored?.hostKey === undefined ? {} : { hostKey: stored.hostKey }),
        ...(via === undefined ? {} : { via })
      }
      before.push(address)
    }
    return via ?? (yield* new JumpRefused({ reason: jumpShape }))
  })
