import type { Path } from "@effect/platform"
import { Clock, Effect, Either, Option } from "effect"
import {
  type AddRouteResult,
  type RemoveRouteResult,
  type RoutedApplication,
  RouteInvalid,
  type RouteList,
  type RouteNamed,
  type RoutePlan,
  type RoutePlanRequest,
  type RouteRequest
} from "../../schema/routes.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { computeFilePatch } from "../../services/parsing.ts"
import { bridgePorts, scrubSecrets, type Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { readPlatformFile } from "../applications/platformFile.ts"
import { listProjectDirectories } from "../projects/projects.ts"
import * as edit from "./editRoutes.ts"
import {
  type EditFailure,
  editProxyFile,
  type EditServices,
  type PreviewFailure,
  previewProxyEdit,
  proxyLocation,
  readProxyText,
  targetAddress,
  toProxyFileError
} from "./proxyFile.ts"
import { readProxy, type RouteEdit } from "./proxyText.ts"
import { readRoutes } from "./queryProxy.ts"

const warningOf = ({ warnings }: RouteEdit) => (warnings.length === 0 ? {} : { warning: warnings.join("; ") })

/** Adds a route to the configured target address. Fails with `RouteTaken` if the name has another target. */
export const addRoute = Effect.fn("Routes.add")(function*(
  request: RouteRequest
): Effect.fn.Return<AddRouteResult, EditFailure, EditServices> {
  const targetIp = yield* targetAddress
  const route = { ...request, targetIp }
  const add = edit.refuseIfBridged(route, yield* bridgePorts)((text) => edit.insertRoute(text, route))
  const done = yield* editProxyFile(add)
  return done._tag === "Unchanged"
    ? { added: false, reason: "route_exists" }
    : { added: true, ...warningOf(done) }
})

/** Removes a route regardless of its target. */
export const removeRoute = Effect.fn("Routes.remove")(function*(
  { routeName }: RouteNamed
): Effect.fn.Return<RemoveRouteResult, EditFailure, EditServices> {
  const done = yield* editProxyFile((text) => edit.deleteRoute(text, routeName))
  return done._tag === "Unchanged"
    ? { removed: false, reason: "route_not_found" }
    : { removed: true, routeName, ...warningOf(done) }
})

/** Requested edit as a function of the file's text. */
const decision = ({ action, domain, port, routeName }: RoutePlanRequest) =>
  Effect.gen(function*() {
    if (action === "remove") {
      return domain === undefined && port === undefined
        ? (text: string) => edit.deleteRoute(text, routeName)
        : yield* new RouteInvalid({ reason: "A route is removed by its name: leave out domain and port" })
    }
    if (domain === undefined || port === undefined) {
      return yield* new RouteInvalid({ reason: "routeName, domain and port are required to add a route" })
    }
    const targetIp = yield* targetAddress
    const route = { routeName, domain, port, targetIp }
    return edit.refuseIfBridged(route, yield* bridgePorts)((text) => edit.insertRoute(text, route))
  })

const linesWith = (diff: string, sign: "+" | "-") =>
  diff.split("\n").slice(2).filter((line) => line.startsWith(sign)).length

/**
 * Previews adding or removing a route as a unified diff of the proxy file. Fails as the change itself would; changes
 * nothing.
 */
export const planRoute = Effect.fn("Routes.plan")(function*(
  request: RoutePlanRequest
): Effect.fn.Return<RoutePlan, PreviewFailure, Settings | Ssh> {
  const observedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const { before, edit: planned, home } = yield* previewProxyEdit(yield* decision(request))
  const { action, routeName } = request
  const place = { file: home.file, serverId: home.server.id, serverName: home.server.name }
  if (planned._tag === "Unchanged") {
    const reason = action === "add" ? "route_exists" : "route_not_found"
    return { action, routeName, ...place, changes: false, reason, diff: "", added: 0, removed: 0, observedAt }
  }
  const whole = yield* computeFilePatch(home.file, before, planned.text)
  const diff = yield* scrubSecrets(whole)
  return {
    action,
    routeName,
    ...place,
    changes: true,
    diff,
    added: linesWith(whole, "+"),
    removed: linesWith(whole, "-"),
    ...planned.warnings.length === 0 ? {} : { warning: planned.warnings.join("; ") },
    observedAt
  }
})

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
