import { Effect, Option } from "effect"
import { type JumpHost, jumpShape, mostJumps, parseJumpHosts } from "../../schema/servers/jumpHosts.ts"
import { JumpRefused } from "../../schema/servers/JumpRefused.ts"
import { type Credentials, type ServerAccess, usualSshPort } from "../../schema/servers/Server.ts"
import type { SshDefaults } from "../../schema/servers/SshDefaults.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { LocalFiles } from "../local/LocalFiles.ts"
import { readSshDefaults } from "./readSshDefaults.ts"
import { SshClient } from "./SshClient.ts"

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
export type FindStored<E> = (
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
        ...(via === undefined ? {} : { via })
      }
      before.push(address)
    }
    return via ?? (yield* new JumpRefused({ reason: jumpShape }))
  })
