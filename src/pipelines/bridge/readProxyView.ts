import { Effect, Either, Option } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { readProxyText } from "../routes/proxyFile.ts"
import { type ProxyLocation, proxyLocation } from "../routes/proxyLocation.ts"
import type { ProxyView } from "./decideBridgedRollout.ts"

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/
const inUrl = (host: string) => (host.includes(":") ? `[${host}]` : host).toLowerCase()

type StoredServer = Pick<ServerAccess, "host" | "id" | "port">

/** True if both are one stored server. */
export const isSame = (one: StoredServer, other: StoredServer) =>
  one.id === other.id || (one.host === other.host && one.port === other.port)

/**
 * Addresses that refer to a server in the proxy file: its host, its interface addresses, and `proxy.targetIp` unless
 * that may mean another stored server. A loopback address means the proxy's own server.
 * @param own addresses of its interfaces
 */
export const readAddresses = (server: StoredServer, home: ProxyLocation, own: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const targetIp = yield* settings.find("proxy.targetIp")
    const others = (yield* settings.servers).filter((other) => !isSame(other, server))
    const isTarget = others.length === 0 || Option.contains(targetIp, server.host) ||
      (isSame(home.server, server) && !others.some(({ host }) => Option.contains(targetIp, host)))
    const free = own.filter((address) => !others.some(({ host }) => host === address))
    const hosts = [server.host, ...isTarget ? Option.toArray(targetIp) : [], ...free].map(inUrl)
    return [...new Set(hosts)].filter((host) => !loopback.test(host) || isSame(home.server, server))
  })

/**
 * Reads the current proxy file, or the reason why it cannot be used.
 * @param own addresses of the server's interfaces
 */
export const readProxyView = (
  server: ServerAccess,
  own: ReadonlyArray<string>
): Effect.Effect<Either.Either<ProxyView, string>, never, Settings | Ssh> =>
  Effect.gen(function*() {
    const configured = yield* (yield* Settings).find("proxy.configFile")
    if (Option.isNone(configured)) return Either.left("the setting proxy.configFile is missing")
    const home = yield* proxyLocation
    const hosts = yield* readAddresses(server, home, own)
    return Either.right({ file: home.file, hosts, text: yield* readProxyText(home) })
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed(Either.left(message.replace(/\.$/, "")))))
