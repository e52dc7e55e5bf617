import { Either, Option } from "effect"
import { makeRouteDecoder, Route, type RouteInvalid, RouteNamed } from "../../schema/routes.ts"
import { type BridgePorts, isBridgePort } from "../../services/settings/Settings.ts"
import { changeRoute, isOwnRoute, quoteNames, type RouteOwner } from "./ownRoute.ts"
import {
  computeProxyShape,
  isSameShape,
  type Line,
  listMapEntries,
  printLines,
  type ProxyText,
  readProxy,
  Refusal,
  RouteEdit,
  type SectionChange
} from "./proxyText.ts"
import {
  findRoutersForDomain,
  findRoutersUsingMiddleware,
  findRoutersUsingService,
  findServicesUsingService,
  hasHostRule,
  hasRouteTo,
  listDomainTargets,
  listRouteTargets,
  listSectionNames
} from "./queryProxy.ts"
import {
  addLines,
  findNamedLine,
  formatRedirectRouter,
  formatTarget,
  redirectMiddleware,
  removeLines,
  renderRouterLines,
  renderServiceLines,
  type RouteParts,
  withSections
} from "./routeLines.ts"

const readRoute = makeRouteDecoder(Route)
const readName = makeRouteDecoder(RouteNamed)

type Outcome = Either.Either<RouteEdit, Refusal>

const entriesFrom = (lines: ReadonlyArray<string>) =>
  Either.match(readProxy(lines.join("\n")), {
    onLeft: () => [],
    onRight: ({ document }) => listMapEntries(document.contents)
  })

const addition = ({ routers, services }: RouteParts): SectionChange => {
  const added = new Map([["routers", entriesFrom(routers)], ["services", entriesFrom(services)]])
  return (section, entries) => [...entries, ...(added.get(section) ?? [])]
}

const removal = (routeName: string): SectionChange => (_, entries) =>
  entries.filter(({ name }) => name !== routeName && name !== formatRedirectRouter(routeName))

const templates = (text: string) => text.split("{{").length

/**
 * Parses the edited text again. It must be valid YAML with both of its sections, and differ from the old content only
 * by the edit.
 */
const verified = (
  before: ProxyText,
  lines: ReadonlyArray<Line>,
  change: SectionChange
): Either.Either<{ readonly text: string; readonly after: ProxyText }, Refusal> => {
  const text = printLines(before.bom, lines)
  return Either.gen(function*() {
    const after = yield* Either.mapLeft(readProxy(text), (refusal) =>
      refusal._tag === "Broken"
        ? Refusal.Unfit({ line: refusal.line, reason: `the edit would break it: ${refusal.reason}` })
        : refusal)
    const intact = isSameShape(computeProxyShape(before, change), computeProxyShape(after)) &&
      templates(text) <= templates(printLines(before.bom, before.lines))
    if (!intact) {
      return yield* Either.left(Refusal.Unfit({
        line: null,
        reason: "the edit would change more of it than this route: its sections must be at two spaces of indent, and " +
          "their entries at four"
      }))
    }
    yield* withSections(after.lines)
    return { text, after }
  })
}

const redirectWarning = (after: ProxyText, { routeName }: Route) =>
  !listSectionNames(after, "routers").includes(formatRedirectRouter(routeName)) ||
    listSectionNames(after, "middlewares").includes(redirectMiddleware)
    ? []
    : [
      `the file does not define the middleware "${redirectMiddleware}": the proxy turns the router ` +
      `"${formatRedirectRouter(routeName)}" off unless another of its files does`
    ]

const invalid = ({ reason }: RouteInvalid) => Refusal.Invalid({ reason })
const wholeRoute = (route: Route) => Either.mapLeft(readRoute(route), invalid)
const wholeName = (routeName: string) => Either.mapLeft(readName({ routeName }), invalid)

const isPlaced = (proxy: ProxyText, routeName: string) =>
  listSectionNames(proxy, "routers").includes(routeName) || listSectionNames(proxy, "services").includes(routeName)

const insertInto = (before: ProxyText, route: Route): Outcome =>
  Either.gen(function*() {
    const parts = { routers: renderRouterLines(route), services: renderServiceLines(route) }
    const { after, text } = yield* verified(before, yield* addLines(before.lines, parts), addition(parts))
    return RouteEdit.Edited({ change: "inserted", text, warnings: redirectWarning(after, route) })
  })

const pointsTo = (targets: ReadonlyArray<string>) =>
  targets.length === 0 ? "points to no server in this file" : `points to ${targets.join(", ")}`

/** A domain that leads elsewhere by routers that stay as they are. */
const routedElsewhere = (proxy: ProxyText, domain: string) => {
  const routers = quoteNames(findRoutersForDomain(proxy, domain))
  const way = `${domain} is already routed by ${routers}, which ${pointsTo(listDomainTargets(proxy, domain))}`
  return RouteEdit.Unchanged({ reason: "routed_elsewhere", warnings: [way] })
}

/** Changes an own route, and adds what it lacks. */
const changeOwn = (before: ProxyText, route: Route, owner: RouteOwner): Outcome =>
  Either.gen(function*() {
    const { change, isChanged, lines, parts } = yield* changeRoute(before, route, owner)
    if (!isChanged) {
      return listDomainTargets(before, route.domain).includes(formatTarget(route).toLowerCase())
        ? RouteEdit.Unchanged({ reason: "domain_routed", warnings: [] })
        : routedElsewhere(before, route.domain)
    }
    const add = addition(parts)
    const { after, text } = yield* verified(
      before,
      lines,
      (section, entries) => add(section, change(section, entries))
    )
    return RouteEdit.Edited({ change: "replaced", text, warnings: redirectWarning(after, route) })
  })

const taken = (routeName: string, reason: string) => Either.left(Refusal.Taken({ routeName, reason }))
/** Adds a route, unless one with its name already has the same target. Refuses a name with another target. */
export const insertRoute = (text: string, route: Route): Outcome =>
  Either.gen(function*() {
    yield* wholeRoute(route)
    const proxy = yield* readProxy(text)
    const { routeName } = route
    if (isPlaced(proxy, routeName)) {
      const targets = listRouteTargets(proxy, routeName)
      return targets.includes(formatTarget(route).toLowerCase())
        ? RouteEdit.Unchanged({ reason: "route_exists", warnings: [] })
        : yield* taken(routeName, `it ${pointsTo(targets)}. Remove that route first, or choose another name`)
    }
    if (listSectionNames(proxy, "routers").includes(formatRedirectRouter(routeName))) {
      return yield* taken(routeName, `another route has the router "${formatRedirectRouter(routeName)}"`)
    }
    return yield* insertInto(proxy, route)
  })

/** Removes a route's entries anywhere under `http`; refuses if not all of them can be removed. */
export const deleteRoute = (text: string, routeName: string): Outcome =>
  Either.gen(function*() {
    yield* wholeName(routeName)
    const before = yield* readProxy(text)
    if (findNamedLine(before.lines, routeName) === undefined) {
      return RouteEdit.Unchanged({ reason: "route_not_found", warnings: [] })
    }
    const lines = yield* withSections(yield* removeLines(before.lines, routeName))
    const left = findNamedLine(lines, routeName)
    if (left !== undefined) {
      return yield* Either.left(Refusal.Unfit({
        line: left + 1,
        reason: `"${routeName}:" would still be in it here: only entries at four spaces are removed`
      }))
    }
    const { after, text: edited } = yield* verified(before, lines, removal(routeName))
    const names = [routeName, formatRedirectRouter(routeName)]
    const gone = (section: string) => names.filter((name) => listSectionNames(before, section).includes(name))
    const orphans = gone("middlewares").flatMap((name) => findRoutersUsingMiddleware(after, name))
    if (orphans.length > 0) {
      return yield* Either.left(Refusal.Unfit({
        line: null,
        reason: `its middleware "${routeName}" would be removed with the route, and ${
          quoteNames(orphans)
        } still uses it`
      }))
    }
    const dangling = gone("services").flatMap((name) => [
      ...findRoutersUsingService(after, name),
      ...findServicesUsingService(after, name)
    ])
    const warnings = dangling.length === 0 ? [] : [`the removed service is still used by ${quoteNames(dangling)}`]
    return RouteEdit.Edited({ change: "removed", text: edited, warnings })
  })

const unowned: RouteOwner = { formerTargets: [], lastDomain: Option.none(), namesakes: [] }

/**
 * Makes a domain lead to a target: changes the route's own entries, or adds the route. A domain routed by other
 * routers is left alone, with a warning if they lead elsewhere. A route with this name counts as the application's own
 * if its target is a current or former one, or its domain is the last written one. If other applications share the
 * name, it does not, because one of them may meanwhile have a former port. Any other route with the name is refused.
 */
export const ensureRoute = (text: string, route: Route, owner: RouteOwner = unowned): Outcome =>
  Either.gen(function*() {
    yield* wholeRoute(route)
    const proxy = yield* readProxy(text)
    const { domain, routeName } = route
    if (hasHostRule(proxy, domain)) {
      if (hasRouteTo(proxy, route)) return RouteEdit.Unchanged({ reason: "domain_routed", warnings: [] })
      const routers = findRoutersForDomain(proxy, domain)
      const isNamed = routers.includes(routeName) || routers.includes(formatRedirectRouter(routeName))
      if (isNamed && isOwnRoute(proxy, route, owner)) return yield* changeOwn(proxy, route, owner)
      return routedElsewhere(proxy, domain)
    }
    if (!isPlaced(proxy, routeName)) return yield* insertRoute(text, route)
    if (!isOwnRoute(proxy, route, owner)) {
      const shared = owner.namesakes.length === 0
        ? ""
        : `, and may belong to ${quoteNames(owner.namesakes)}, whose route has that name too`
      return yield* taken(
        routeName,
        `it ${
          pointsTo(listRouteTargets(proxy, routeName))
        }${shared}. If it is this application's, remove it and run again`
      )
    }
    return yield* changeOwn(proxy, route, owner)
  })

type Edit = (text: string) => Either.Either<RouteEdit, Refusal>

const checkUnbridged = (
  text: string,
  { port, routeName }: Pick<Route, "port" | "routeName">,
  bridges: BridgePorts,
  own: ReadonlyArray<string>
): Either.Either<void, Refusal> =>
  Either.flatMap(readProxy(text), (proxy) => {
    const others = listRouteTargets(proxy, routeName).filter((target) => !own.includes(target))
    const ports = others.map((target) => Number(target.replace(/^.*:/, "")))
    const bridged = ports.find((each) => each !== port && isBridgePort(bridges, each))
    return bridged === undefined ? Either.void : Either.left(Refusal.Bridged({ routeName, port: bridged }))
  })

/**
 * Refuses an edit that would change a route to a bridge, because requests would go to a container that is being
 * replaced.
 * @param own targets, as `host:port`, that the route had before
 */
export const refuseIfBridged =
  (route: Pick<Route, "port" | "routeName">, bridges: BridgePorts, own: ReadonlyArray<string> = []) =>
  (edit: Edit): Edit =>
  (text) => {
    const done = edit(text)
    const isThere = Either.isRight(done) && done.right._tag === "Unchanged" && done.right.reason !== "routed_elsewhere"
    return isThere ? done : Either.flatMap(checkUnbridged(text, route, bridges, own), () => done)
  }
