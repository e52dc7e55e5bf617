import { Effect, Either, Option } from "effect"
import { ProxyFileUnfit } from "../../schema/routes/Route.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { readAddresses } from "../bridge/readProxyView.ts"
import { toProxyFileError } from "../routes/editProxyFile.ts"
import { readProxyText } from "../routes/proxyFile.ts"
import { proxyLocation } from "../routes/proxyLocation.ts"
import { readProxy } from "../routes/proxyText.ts"
import { readRoutes } from "../routes/readRoutes.ts"
import { withinDeadline } from "./withinDeadline.ts"

/** A route that the proxy ignores, or the proxy file itself if it cannot be parsed. */
export interface BrokenRoute {
  readonly name: string
  readonly reason: string
}

/** A domain and the target of its route as host:port. */
export interface RoutedDomain {
  readonly domain: string
  readonly target: string
}

/** Broken routes, and the targets of all routed domains. */
export interface ObservedRoutes {
  readonly broken: ReadonlyArray<BrokenRoute>
  readonly routed: ReadonlyArray<RoutedDomain>
  /** Addresses that refer to a server in the proxy file, by server id. */
  readonly hosts: ReadonlyMap<string, ReadonlyArray<string>>
}

const nothing: ObservedRoutes = { broken: [], routed: [], hosts: new Map() }

const loopbacks = ["127.0.0.1", "::1", "localhost"]

const observed = Effect.gen(function*() {
  if (Option.isNone(yield* (yield* Settings).find("proxy.configFile"))) return nothing
  const home = yield* proxyLocation
  const text = yield* readProxyText(home)
  const routes = text.trim() === "" ? [] : readRoutes(yield* Either.mapLeft(readProxy(text), toProxyFileError(home)))
  const broken = routes.flatMap(({ missingMiddlewares, routeName, targets }): ReadonlyArray<BrokenRoute> => {
    if (targets.length === 0) return [{ name: routeName, reason: "leads to no service of the proxy file" }]
    return missingMiddlewares.length === 0
      ? []
      : [{ name: routeName, reason: `lacks in the proxy file: ${missingMiddlewares.join(", ")}` }]
  })
  const routed = routes.flatMap(({ domains, targets }) =>
    domains.flatMap((domain) => targets.map((target): RoutedDomain => ({ domain, target })))
  )
  const hosts = yield* Effect.forEach(
    yield* (yield* Settings).servers,
    (server) => Effect.map(readAddresses(server, home, loopbacks), (addresses) => [server.id, addresses] as const)
  )
  return { broken, routed, hosts: new Map(hosts) } satisfies ObservedRoutes
})

/** Reads the routes of the proxy file. An unreadable file is reported with its server or the applications. */
export const observeRoutes = (deadline: number) =>
  withinDeadline(
    { at: deadline, millis: Number.POSITIVE_INFINITY },
    observed.pipe(
      Effect.catchAll((error) =>
        error instanceof ProxyFileUnfit
          ? Effect.map(
            scrubSecrets(error.message),
            (reason): ObservedRoutes => ({ ...nothing, broken: [{ name: "The proxy file", reason }] })
          )
          : Effect.succeed(nothing)
      )
    ),
    () => nothing
  ).pipe(Effect.withSpan("overview.observeRoutes"))
