import { HttpServer } from "@effect/platform"
import { Effect, Layer } from "effect"
import { version } from "../../schema/version.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** The address of a listening service as a browser takes it. */
export const formatBaseUrl = (address: HttpServer.Address): string =>
  address._tag === "UnixAddress"
    ? address.path
    : `http://${address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname}:${address.port}`

/** Says in the log where the service can be reached, and which settings it goes by. */
export const Announce = Layer.effectDiscard(Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const { file } = yield* Settings
  const url = formatBaseUrl(address)
  yield* Effect.logInfo(`Berth ${version} listens on ${url}. Reference: ${url}/reference. Settings: ${file}`)
}))
