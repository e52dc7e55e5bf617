import type { Path } from "@effect/platform"
import { Clock, Effect, Either, Option } from "effect"
import type { RoutedApplication, RouteList } from "../../schema/routes/RouteList.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { listProjectDirectories } from "../projects/listProjects.ts"
import { type PreviewFailure, toProxyFileError } from "./editProxyFile.ts"
import { readProxyText } from "./proxyFile.ts"
import { proxyLocation } from "./proxyLocation.ts"
import { readProxy } from "./proxyText.ts"
import { readRoutes } from "./readRoutes.ts"

const filesAtOnce = 16
const mostWarnings = 20

/** Declared applications by domain in lower case, with sentences about unreadable projects. */
interface Declared {
  readonly byDomain: ReadonlyMap<string, ReadonlyArray<RoutedApplication>>
  readonly unread: ReadonlyArray<string>
}

const declaredIn = (projectPath: string) =>
  Effect.map(
    readPlatformFile(projectPath),
    (apps) =>
      Option.getOrElse(apps, () => []).flatMap(({ entry: { domain, name } }) =>
        domain === undefined || domain === null ? [] : [[domain.toLowerCase(), { appName: name, projectPath }] as const]
      )
  )

/** Reads the declarations of the projects under the root. */
const declaredDomains: Effect.Effect<Declared, never, LocalFiles | Path.Path | Settings> = Effect.gen(function*() {
  const places = yield* listProjectDirectories()
  const [unread, found] = yield* Effect.partition(places, ({ path }) => declaredIn(path), { concurrency: filesAtOnce })
  const byDomain = new Map<string, ReadonlyArray<RoutedApplication>>()
  for (const [domain, application] of found.flat()) {
    byDomain.set(domain, [...byDomain.get(domain) ?? [], application])
  }
  return { byDomain, unread: unread.slice(0, mostWarnings).map(({ message }) => message) }
}).pipe(
  Effect.catchAll(({ message }) => Effect.succeed({ byDomain: new Map(), unread: [message] }))
)

/** Lists the routes of the proxy file with their targets, origin and declaring applications. Changes nothing. */
export const listRoutes: Effect.Effect<
  RouteList,
  PreviewFailure,
  LocalFiles | Path.Path | Settings | Ssh
> = Effect.gen(function*() {
  const home = yield* proxyLocation
  const observedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const [text, { byDomain, unread }] = yield* Effect.all([readProxyText(home), declaredDomains], {
    concurrency: "unbounded"
  })
  const routes = text.trim() === "" ? [] : readRoutes(yield* Either.mapLeft(readProxy(text), toProxyFileError(home)))
  return {
    file: home.file,
    serverId: home.server.id,
    serverName: home.server.name,
    routes: routes.map((route) => ({
      ...route,
      applications: [...new Set(route.domains.flatMap((domain) => byDomain.get(domain) ?? []))]
    })),
    observedAt,
    warnings: yield* Effect.forEach(unread, (words) => scrubSecrets(words))
  }
}).pipe(Effect.withSpan("Routes.list"))
