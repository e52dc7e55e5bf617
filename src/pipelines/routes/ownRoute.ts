import { Either, Option } from "effect"
import { isCollection, isScalar, isSeq } from "yaml"
import type { Route } from "../../schema/routes.ts"
import { requireOutside } from "./goTemplates.ts"
import {
  type Line,
  printLines,
  type ProxyText,
  readMapValue,
  readProxy,
  Refusal,
  type SectionChange,
  type Shape
} from "./proxyText.ts"
import {
  findRoutersUsingService,
  findServicesUsingService,
  listRouterDomains,
  listRouteTargets,
  listServingServices,
  parseUrlTarget,
  readRouterService,
  readSectionEntries
} from "./queryProxy.ts"
import {
  addLines,
  formatRedirectRouter,
  formatTarget,
  renderRedirectRouterLines,
  renderServiceLines,
  renderServingRouterLines,
  type RouteParts
} from "./routeLines.ts"

/** Identifies an application's own route among others of the same name. */
export interface RouteOwner {
  /** Former targets of the application, as `host:port`. */
  readonly formerTargets: ReadonlyArray<string>
  /** Domain, in lower case, that its route was last written for; its target may have been edited since. */
  readonly lastDomain: Option.Option<string>
  /** Other applications whose routes have the same name. */
  readonly namesakes: ReadonlyArray<string>
}

/**
 * True if the route with an application's name belongs to it: it has the current or a former target, or serves the last
 * domain.
 */
export const isOwnRoute = (
  proxy: ProxyText,
  { routeName, ...place }: Omit<Route, "domain">,
  { formerTargets, lastDomain, namesakes }: RouteOwner
): boolean => {
  const own = [formatTarget(place), ...formerTargets].map((target) => target.toLowerCase())
  const targets = listRouteTargets(proxy, routeName)
  const domains = [routeName, formatRedirectRouter(routeName)].flatMap((router) => listRouterDomains(proxy, router))
  return namesakes.length === 0 && (
    (targets.length > 0 && targets.every((target) => own.includes(target))) ||
    Option.exists(lastDomain, (domain) => domains.includes(domain))
  )
}

/** Replacement of the text of a value in an entry of a section. */
interface ValueEdit {
  readonly section: "routers" | "services"
  readonly entry: string
  readonly value: string
  readonly range: readonly [from: number, to: number]
  readonly change: (text: string) => string
}

/** Replaces a domain in the `Host(…)` of a rule, in whatever quotes. */
const withDomain = (old: string, domain: string) => (rule: string): string =>
  rule.replace(
    /(!\s*)?(\bHost(?:Header)?\s*\()([^()]*)\)/gi,
    (whole, negation: string | undefined, head: string, list: string) =>
      negation === undefined
        ? `${head}${
          list.replace(
            /([`"'])([^`"'\\]+)(\\?\1)/g,
            (quoted, open: string, host: string, close: string) =>
              host.toLowerCase() === old ? `${open}${domain}${close}` : quoted
          )
        })`
        : whole
  )

/** Replaces host and port of a URL. */
const withTarget = (target: string) => (url: string): string =>
  url.replace(/^(["']?[a-z][a-z0-9]*:\/\/)[^/?#"']+/i, (_, scheme: string) => scheme + target)

/** A change of a route that Berth cannot make without touching what others have written. */
const unfit = (reason: string, line: number | null = null) => Either.left(Refusal.Unfit({ line, reason }))

const isAnchor = (node: unknown) => (isScalar(node) || isCollection(node)) && node.anchor !== undefined

/**
 * Edit of a value, if its notation allows to change it alone.
 * @param above nodes that hold it: aliases of one of them share it
 */
const editValue = (
  body: string,
  section: ValueEdit["section"],
  entry: string,
  above: ReadonlyArray<unknown>,
  node: unknown,
  change: (text: string) => string
): Either.Either<ValueEdit, Refusal> => {
  const where = `"${entry}" under "${section}:"`
  if (!isScalar(node) || typeof node.value !== "string" || !node.range) {
    return unfit(`${where} is written in a form that Berth does not edit: change it by hand, then run again`)
  }
  const [from, to] = node.range
  const source = body.slice(from, to)
  const line = body.slice(0, from).split("\n").length
  if ([...above, node].some(isAnchor) || source.includes("\n") || node.type?.startsWith("BLOCK") === true) {
    return unfit(`${where} shares its values or has them on several lines: change it by hand, then run again`, line)
  }
  if (source.includes("{{")) {
    return unfit(`${where} is filled in by a template: change it by hand, then run again`, line)
  }
  return Either.right({ section, entry, value: node.value, range: [from, to], change })
}

const withValue = (shape: Shape, from: string, to: string): Shape =>
  Array.isArray(shape)
    ? shape[0] === "scalar" && shape[2] === from
      ? [shape[0], shape[1] ?? null, to, shape[3] ?? null]
      : shape.map((each: Shape) => withValue(each, from, to))
    : shape

/** Names in quotes for a message. */
export const quoteNames = (names: ReadonlyArray<string>) => names.map((name) => `"${name}"`).join(", ")

type Edits = Either.Either<ReadonlyArray<ValueEdit>, Refusal>

/**
 * Edits of the rules of a route's routers, so that they have its domain instead of the one before. A rule that never had
 * that domain stays.
 */
const editRules = (
  before: ProxyText,
  body: string,
  { domain, routeName }: Route,
  { lastDomain }: RouteOwner
): Edits => {
  const routers = readSectionEntries(before, "routers")
  const redirect = formatRedirectRouter(routeName)
  const wanted = domain.toLowerCase()
  const deciding = routers.has(routeName) ? routeName : redirect
  // Routers that are missing are added with the domain.
  if (!routers.has(deciding)) return Either.right([])
  const domains = listRouterDomains(before, deciding)
  if (domains.includes(wanted)) return Either.right([])
  const [only, ...others] = [...new Set(domains)]
  const old = Option.getOrUndefined(Option.filter(lastDomain, (last) => domains.includes(last))) ??
    (others.length === 0 ? only : undefined)
  if (old === undefined) {
    return unfit(
      `the router "${deciding}" serves ${
        domains.join(", ") || "no host"
      }, and nothing says which is to become ${domain}: ` +
        "change its rule by hand, then run again"
    )
  }
  return Either.all(
    [routeName, redirect].filter((name) => listRouterDomains(before, name).includes(old)).map((name) => {
      const router = routers.get(name)
      return editValue(body, "routers", name, [router], readMapValue(router, "rule"), withDomain(old, domain))
    })
  )
}

/** Edits of the addresses of a route's service, or of those that it shares requests out to, so that it leads to its target. */
const editServers = (
  before: ProxyText,
  body: string,
  service: string,
  route: Route,
  { formerTargets }: RouteOwner
): Edits => {
  const serving = listServingServices(readSectionEntries(before, "services"), service)
  const items = serving.flatMap(([name, entry]) => {
    const balancer = readMapValue(entry, "loadBalancer")
    const servers = readMapValue(balancer, "servers")
    const list = isSeq(servers) ? servers.items : []
    return list.map((item) => ({
      name,
      above: [entry, balancer, servers, ...list],
      url: readMapValue(item, "url")
    }))
  })
  const targetOf = ({ url }: { readonly url: unknown }) =>
    isScalar(url) && typeof url.value === "string" ? parseUrlTarget(url.value) : undefined
  const target = formatTarget(route)
  if (items.some((item) => targetOf(item) === target.toLowerCase())) return Either.right([])
  const own = formerTargets.map((former) => former.toLowerCase())
  const former = items.filter((item) => own.includes(targetOf(item) ?? ""))
  // The service with the application's name is its own, so that its single server is, wherever it was sent.
  const isOnly = items.length === 1 && items[0]?.name === route.routeName
  const [item, ...more] = isOnly ? items : former
  if (item === undefined || more.length > 0) {
    const there = items.length === 0
      ? "no server of its own"
      : `the servers ${items.map((each) => targetOf(each) ?? "without an address").join(", ")}`
    return unfit(
      `its service "${service}" has ${there}, and nothing says which is this application's: change it to ${target} by ` +
        "hand, then run again"
    )
  }
  // The edited service, and those on the way from the router to it.
  const way = new Set([item.name])
  for (const name of way) {
    for (const user of findServicesUsingService(before, name)) {
      if (serving.some(([each]) => each === user)) way.add(user)
    }
  }
  // All that leads to the service with the application's name is the application's, too.
  const shared = [...way].filter((name) => name !== route.routeName).flatMap((name) => {
    const others = [
      ...findRoutersUsingService(before, name).filter((router) =>
        router !== route.routeName && router !== formatRedirectRouter(route.routeName)
      ),
      ...findServicesUsingService(before, name).filter((user) => !way.has(user))
    ]
    return others.length === 0 ? [] : [{ name, others }]
  })[0]
  return shared !== undefined
    ? unfit(
      `its service "${shared.name}" is also used by ${
        quoteNames(shared.others)
      }: give it one of its own, then run again`
    )
    : Either.map(
      editValue(body, "services", item.name, item.above, item.url, withTarget(target)),
      (edit) => [edit]
    )
}

/** Lines of a file with an own route changed, and the changes of its sections. */
interface ChangedRoute {
  readonly lines: ReadonlyArray<Line>
  readonly change: SectionChange
  /** Entries that were missing, and were added. */
  readonly parts: RouteParts
  /** False if there was nothing to change or to add. */
  readonly isChanged: boolean
}

/**
 * Gives an own route another domain or target by its smallest parts: the host in the rules of its routers and the
 * address of its server. Priorities, middlewares, health checks and whatever else others have written there stay.
 * Adds its router or its service if it is missing.
 */
export const changeRoute = (before: ProxyText, route: Route, owner: RouteOwner): Either.Either<ChangedRoute, Refusal> =>
  Either.gen(function*() {
    const { routeName } = route
    const redirect = formatRedirectRouter(routeName)
    const body = printLines("", before.lines)
    const routers = readSectionEntries(before, "routers")
    const services = readSectionEntries(before, "services")
    // Its router may lead there by another service, such as one that asks for a password.
    const service = services.has(routeName) ? routeName : readRouterService(routers.get(routeName)) ?? routeName
    const isServed = services.has(service)
    const edits = [
      ...yield* editRules(before, body, route, owner),
      ...isServed ? yield* editServers(before, body, service, route, owner) : []
    ]
    if (!isServed && service !== routeName) {
      return yield* unfit(`its service "${service}" is not in this file: change it where it is, or remove the route`)
    }
    const lineAt = (offset: number) => body.slice(0, offset).split("\n").length - 1
    yield* requireOutside(
      before.lines,
      edits.map(({ range: [from] }) => [lineAt(from), lineAt(from) + 1])
    )
    const text = edits.toSorted((one, other) => other.range[0] - one.range[0]).reduce(
      (text, { change, range: [from, to] }) => text.slice(0, from) + change(text.slice(from, to)) + text.slice(to),
      body
    )
    const { lines } = yield* readProxy(before.bom + text)
    const parts: RouteParts = {
      routers: [
        ...routers.has(routeName) ? [] : renderServingRouterLines(route),
        ...routers.has(routeName) || routers.has(redirect) ? [] : renderRedirectRouterLines(route)
      ],
      services: isServed ? [] : renderServiceLines(route)
    }
    return {
      lines: yield* addLines(lines, parts),
      parts,
      isChanged: edits.length + parts.routers.length + parts.services.length > 0,
      change: (section, entries) =>
        entries.map((entry) =>
          edits.filter((edit) => edit.section === section && edit.entry === entry.name).reduce(
            ({ name, shape }, { change, value }) => ({ name, shape: withValue(shape, value, change(value)) }),
            entry
          )
        )
    }
  })

/** Name of an application's route: its own name in lower case, only letters and digits. */
export const toRouteName = (name: string): string => name.replace(/[^A-Za-z0-9]/g, "").toLowerCase()

/** Names of other applications whose routes have the same name. */
export const findNamesakes = (
  name: string,
  apps: ReadonlyArray<{ readonly name: string }>
): ReadonlyArray<string> =>
  apps.map((app) => app.name).filter((other) => other !== name && toRouteName(other) === toRouteName(name))
