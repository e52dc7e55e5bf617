import { Effect, Either, Option, Schema } from "effect"
import { ProxySettingsInvalid, TargetAddress } from "../../schema/routes/Route.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Proxy file and its server. */
export interface ProxyLocation {
  readonly server: ServerAccess
  readonly file: string
}

const isAddress = Schema.decodeUnknownEither(TargetAddress)

/** Default target address of routes. */
export const targetAddress: Effect.Effect<string, SettingsError | ProxySettingsInvalid, Settings> = Effect.gen(
  function*() {
    const settings = yield* Settings
    const address = yield* settings.get("proxy.targetIp")
    if (Either.isRight(isAddress(address))) return address
    return yield* new ProxySettingsInvalid({
      reason: `The setting proxy.targetIp in ${settings.file} must be an IP address or a host name`
    })
  }
)

/** Id of the proxy file's server: the configured one, else the one at the target address, else the only one. */
const serverId = Effect.gen(function*() {
  const settings = yield* Settings
  const configured = yield* settings.find("proxy.server")
  if (Option.isSome(configured)) return configured.value
  const servers = yield* settings.servers
  const targetIp = yield* settings.find("proxy.targetIp")
  const found = servers.find(({ host }) => Option.contains(targetIp, host)) ??
    (servers.length === 1 ? servers[0] : undefined)
  if (found !== undefined) return found.id
  const why = servers.length === 0
    ? "no server is stored"
    : `none of the ${servers.length} stored servers has proxy.targetIp as its host`
  return yield* new ProxySettingsInvalid({
    reason:
      `Which server holds the proxy file? ${why}: set proxy.server in ${settings.file} to the id or the name of one`
  })
})

/** Server that the proxy runs on, from the settings. */
export const proxyServer: Effect.Effect<ServerAccess, SettingsError | ProxySettingsInvalid, Settings> = Effect.gen(
  function*() {
    const settings = yield* Settings
    const id = yield* serverId
    return yield* Effect.catchTags(settings.server(id), {
      ServerNotFound: () =>
        new ProxySettingsInvalid({
          reason: `The setting proxy.server in ${settings.file} is "${id}", and no stored server has that id or name`
        }),
      ServerAmbiguous: ({ message }) =>
        new ProxySettingsInvalid({ reason: `The setting proxy.server in ${settings.file}: ${message}` })
    })
  }
)

/** Server and path of the proxy file, from the settings. */
export const proxyLocation: Effect.Effect<ProxyLocation, SettingsError | ProxySettingsInvalid, Settings> = Effect.gen(
  function*() {
    const settings = yield* Settings
    const file = yield* settings.get("proxy.configFile")
    return { server: yield* proxyServer, file }
  }
)
