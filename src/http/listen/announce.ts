import { HttpServer } from "@effect/platform"
import { Effect, Layer } from "effect"
import { version } from "../../schema/version.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** URL of a listening service, for a browser. */
export const formatBaseUrl = (address: HttpServer.Address): string =>
  address._tag === "UnixAddress"
    ? address.path
    : `http://${address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname}:${address.port}`

/** Logs the URL of the service and its settings file. */
export const Announce = Layer.effectDiscard(Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const { file } = yield* Settings
  const url = formatBaseUrl(address)
  yield* Effect.logInfo(`Berth ${version} listens on ${url}. Reference: ${url}/reference. Settings: ${file}`)
}))
