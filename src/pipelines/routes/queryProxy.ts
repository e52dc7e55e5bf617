import { Either } from "effect"
import { isMap, isScalar, isSeq } from "yaml"
import type { ListedRoute, Route } from "../../schema/routes.ts"
import { listMapEntries, type ProxyText, readMapValue, readPairKey, readProxy, type Shape } from "./proxyText.ts"
import {
  formatRedirectRouter,
  formatTarget,
  redirectMiddleware,
  renderRouterLines,
  renderServiceLines
} from "./routeLines.ts"

/** Name of a service or middleware without its provider; that of another provider stays. */
const inFile = (name: string) => name.replace(/@file$/, "")

const textOf = (node: unknown): string | undefined =>
  isScalar(node) && typeof node.value === "string" ? node.value : undefined

const itemsOf = (node: unknown): ReadonlyArray<unknown> => (isSeq(node) ? node.items : [])

/** The entries of a section, by name. */
export const readSectionEntries = ({ http }: ProxyText, section: string): ReadonlyMap<string, unknown> => {
  const entries = readMapValue(http, section)
  return new Map(
    isMap(entries)
      ? entries.items.flatMap(({ key, value }) => {
        const name = readPairKey(key)
        return name === undefined ? [] : [[name, value] as const]
      })
      : []
  )
}

/** The names of a section's entries. */
export const listSectionNames = (proxy: ProxyText, section: string): ReadonlyArray<string> =>
  Array.from(readSectionEntries(proxy, section).keys())

/** Routers that match a predicate, in the order of the file. */
const routersThat = (proxy: ProxyText, holds: (router: unknown) => boolean): ReadonlyArray<string> =>
  Array.from(readSectionEntries(proxy, "routers")).flatMap(([name, router]) => holds(router) ? [name] : [])

/** Service of a router; `app@file` becomes `app`. */
export const readRouterService = (router: unknown) => textOf(readMapValue(router, "service"))?.replace(/@file$/, "")

const defaultPorts = new Map([["http", "80"], ["https", "443"], ["h2c", "80"]])

/** `host:port` of a URL in lower case, with the scheme's default port if it has none. */
export const parseUrlTarget = (url: string): string | undefined => {
  const [, scheme, host] = /^([a-z][a-z0-9]*):\/\/([^/?#]+)/i.exec(url) ?? []
  if (scheme === undefined || host === undefined) return undefined
  const port = defaultPorts.get(scheme.toLowerCase())
  return (/:\d+$/.test(host) || port === undefined ? host : `${host}:${port}`).toLowerCase()
}

/** Services that a service names as its parts, with whether they get requests, beyond copies and fail-overs. */
const listParts = (service: unknown): ReadonlyArray<{ readonly name: string; readonly serves: boolean }> => {
  const part = (node: unknown, serves: boolean) => {
    const name = inFile(textOf(node) ?? "")
    return name === "" ? [] : [{ name, serves }]
  }
  const [mirroring, failover] = [readMapValue(service, "mirroring"), readMapValue(service, "failover")]
  return [
    ...["weighted", "highestRandomWeight"].flatMap((kind) =>
      itemsOf(readMapValue(readMapValue(service, kind), "services")).flatMap((item) => {
        const weight = readMapValue(item, "weight")
        return part(readMapValue(item, "name"), !(isScalar(weight) && weight.value === 0))
      })
    ),
    ...[mirroring, failover].flatMap((group) => part(readMapValue(group, "service"), true)),
    ...itemsOf(readMapValue(mirroring, "mirrors")).flatMap((item) => part(readMapValue(item, "name"), false)),
    ...part(readMapValue(failover, "fallback"), false)
  ]
}

/** A service of a file that gets requests, and its name. */
type ServingService = readonly [name: string, entry: unknown]

/** Most services that one of them shares its requests out to. */
const mostParts = 100

const serving = new WeakMap<ReadonlyMap<string, unknown>, Map<string, ReadonlyArray<ServingService>>>()

/**
 * Services of a file that get the requests of one: itself, and those that it shares them out to by weights or stands
 * before; no mirrors, which get copies, and no stand-by. Found once for each service, however many routers use it.
 */
export const listServingServices = (
  services: ReadonlyMap<string, unknown>,
  service: string
): ReadonlyArray<ServingService> => {
  const known = serving.get(services) ?? new Map<string, ReadonlyArray<ServingService>>()
  serving.set(services, known)
  const before = known.get(service)
  if (before !== undefined) return before
  const found = new Map<string, unknown>()
  const rest = new Set([service])
  // A set is walked in its order, also through what is added meanwhile.
  for (const name of rest) {
    if (found.size === mostParts) break
    if (!services.has(name)) continue
    const entry = services.get(name)
    found.set(name, entry)
    for (const part of listParts(entry)) if (part.serves) rest.add(part.name)
  }
  const all = [...found]
  known.set(service, all)
  return all
}

/** Targets of a service: each server's `host:port`. */
const listServiceServers = (services: ReadonlyMap<string, unknown>, service: string): ReadonlyArray<string> =>
  listServingServices(services, service).flatMap(([, entry]) =>
    itemsOf(readMapValue(readMapValue(entry, "loadBalancer"), "servers")).flatMap((server) =>
      parseUrlTarget(textOf(readMapValue(server, "url")) ?? "") ?? []
    )
  )

/** Targets of a route: the servers of the service with its name, or of the service that its router uses. */
export const listRouteTargets = (proxy: ProxyText, name: string): ReadonlyArray<string> => {
  const services = readSectionEntries(proxy, "services")
  if (services.has(name)) return listServiceServers(services, name)
  const service = readRouterService(readSectionEntries(proxy, "routers").get(name))
  return service === undefined ? [] : listServiceServers(services, service)
}

/** Host names in a rule, in lower case: those of `Host(…)`, which Traefik also knows as `host` and `HOST`, unless negated. */
export const parseRuleHosts = (rule: string): ReadonlyArray<string> =>
  Array.from(rule.matchAll(/(!\s*)?\bHost(?:Header)?\s*\(([^()]*)\)/gi)).flatMap(([, negation, list]) =>
    negation === undefined
      ? Array.from((list ?? "").matchAll(/[`"']([^`"']+)[`"']/g)).flatMap(([, host]) => host?.toLowerCase() ?? [])
      : []
  )

/** Rule of a router; empty if it has none. */
export const readRouterRule = (router: unknown): string => textOf(readMapValue(router, "rule")) ?? ""

/** Host names in a router's rule. */
export const listRouterDomains = (proxy: ProxyText, router: string): ReadonlyArray<string> =>
  parseRuleHosts(readRouterRule(readSectionEntries(proxy, "routers").get(router)))

/** Routers whose rule matches a domain, in the order of the file. */
export const findRoutersForDomain = (proxy: ProxyText, domain: string): ReadonlyArray<string> =>
  routersThat(proxy, (router) => parseRuleHosts(readRouterRule(router)).includes(domain.toLowerCase()))

/** True if a router's rule matches a domain. */
export const hasHostRule = (proxy: ProxyText, domain: string): boolean => findRoutersForDomain(proxy, domain).length > 0

/** Targets of a domain's routers. */
export const listDomainTargets = (proxy: ProxyText, domain: string): ReadonlyArray<string> => {
  const routers = readSectionEntries(proxy, "routers")
  const services = readSectionEntries(proxy, "services")
  const used = new Set(
    findRoutersForDomain(proxy, domain).flatMap((name) => readRouterService(routers.get(name)) ?? [])
  )
  return Array.from(new Set(Array.from(used).flatMap((name) => listServiceServers(services, name))))
}

/** The routers that use a service. */
export const findRoutersUsingService = (proxy: ProxyText, service: string): ReadonlyArray<string> =>
  routersThat(proxy, (router) => readRouterService(router) === service)

/** The services that name a service as a part: by weights, as a mirror or as a stand-by. */
export const findServicesUsingService = (proxy: ProxyText, service: string): ReadonlyArray<string> =>
  Array.from(readSectionEntries(proxy, "services")).flatMap(([name, entry]) =>
    listParts(entry).some((part) => part.name === service) ? [name] : []
  )

/** Middlewares of a router; `a@file` becomes `a`. */
const listMiddlewares = (router: unknown): ReadonlyArray<string> =>
  itemsOf(readMapValue(router, "middlewares")).flatMap((item) => textOf(item)?.replace(/@file$/, "") ?? [])

/** The routers that use a middleware. */
export const findRoutersUsingMiddleware = (proxy: ProxyText, middleware: string): ReadonlyArray<string> =>
  routersThat(proxy, (router) => listMiddlewares(router).includes(middleware))

/** Middlewares of a router that the file does not define; ignores those of another provider, such as `a@docker`. */
export const findMissingMiddlewares = (proxy: ProxyText, router: string): ReadonlyArray<string> => {
  const defined = readSectionEntries(proxy, "middlewares")
  return listMiddlewares(readSectionEntries(proxy, "routers").get(router)).filter((name) =>
    !name.includes("@") && !defined.has(name)
  )
}

/** A route of the proxy file, without its declaring applications. */
export type FoundRoute = Omit<ListedRoute, "applications">

const longestRule = 300

/** Entries of a file's sections, by section and name. */
const shapesOf = (proxy: ProxyText): ReadonlyMap<string, Shape> =>
  new Map(
    ["routers", "services"].flatMap((section) =>
      listMapEntries(readMapValue(proxy.http, section)).map(({ name, shape }) => [`${section} ${name}`, shape] as const)
    )
  )

/** Parses a target into its address and port. */
const parseTarget = (target: string) => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(target) ?? []
  const targetIp = bracketed ?? plain
  return targetIp === undefined ? undefined : { targetIp, port: Number(port) }
}

/** Names of the routes whose entries have exactly the form that Berth writes. */
const writtenByBerth = (proxy: ProxyText, routes: ReadonlyArray<Omit<FoundRoute, "madeBy">>): ReadonlySet<string> => {
  const candidates = routes.flatMap(({ domains: [domain, ...more], routeName, targets: [target, ...others] }) => {
    const place = target === undefined ? undefined : parseTarget(target)
    return domain === undefined || place === undefined || more.length > 0 || others.length > 0
      ? []
      : [{ routeName, domain, ...place }]
  })
  const text = [
    "http:",
    "  routers:",
    ...candidates.flatMap(renderRouterLines),
    "  services:",
    ...candidates.flatMap(renderServiceLines)
  ].join("\n")
  const expected = Either.match(readProxy(text), { onLeft: () => new Map<string, Shape>(), onRight: shapesOf })
  const found = shapesOf(proxy)
  const isAsWritten = (key: string) =>
    expected.has(key) && JSON.stringify(expected.get(key)) === JSON.stringify(found.get(key))
  return new Set(
    candidates.flatMap(({ routeName }) =>
      [`routers ${routeName}`, `routers ${formatRedirectRouter(routeName)}`, `services ${routeName}`].every(isAsWritten)
        ? [routeName]
        : []
    )
  )
}

/**
 * Lists the routes of a proxy file in its order. A router that only redirects plain http belongs to the route that it
 * is named after.
 */
export const readRoutes = (proxy: ProxyText): ReadonlyArray<FoundRoute> => {
  const routers = readSectionEntries(proxy, "routers")
  const services = readSectionEntries(proxy, "services")
  const defined = readSectionEntries(proxy, "middlewares")
  const redirects = new Set([...routers.keys()].map(formatRedirectRouter).filter((name) => routers.has(name)))
  const routes = [...routers].flatMap(([routeName, router]) => {
    if (redirects.has(routeName)) return []
    const redirect = routers.get(formatRedirectRouter(routeName))
    const rule = readRouterRule(router)
    const service = readRouterService(router)
    const used = [...listMiddlewares(router), ...listMiddlewares(redirect)]
    return [{
      routeName,
      domains: [...new Set(parseRuleHosts(rule))],
      rule: rule.length > longestRule ? `${rule.slice(0, longestRule)}…` : rule,
      targets: service === undefined ? [] : [...listServiceServers(services, service)],
      redirects: redirect !== undefined,
      missingMiddlewares: [...new Set(used)].filter((name) => !name.includes("@") && !defined.has(name))
    }]
  })
  const ours = writtenByBerth(proxy, routes)
  return routes.map((route) => ({ ...route, madeBy: ours.has(route.routeName) ? "berth" : "other" }))
}

/**
 * True if a proxy file routes a domain to a target: by the route with this name if it serves the domain, else by any
 * router for the domain. Routers that only redirect plain http do not count.
 */
export const hasRouteTo = (proxy: ProxyText, { domain, routeName, ...place }: Route): boolean => {
  const routers = readSectionEntries(proxy, "routers")
  const services = readSectionEntries(proxy, "services")
  const serving = findRoutersForDomain(proxy, domain).filter((name) =>
    !listMiddlewares(routers.get(name)).includes(redirectMiddleware)
  )
  const decisive = serving.includes(routeName) ? [routeName] : serving
  return decisive.some((name) => {
    const service = readRouterService(routers.get(name))
    return service !== undefined &&
      listServiceServers(services, service).includes(formatTarget(place).toLowerCase())
  })
}

const address = /^(https?|h2c):\/\/([^/?#@]*?)(?::(\d{1,5}))?(?=[/?#]|$)/i
const schemePort = (scheme: string) => (scheme.toLowerCase() === "https" ? 443 : 80)

/** Host and port of a server's URL. */
export const parseHostAndPort = (url: string) => {
  const [, scheme, host, port] = address.exec(url) ?? []
  return scheme === undefined || host === undefined
    ? undefined
    : { host: host.toLowerCase(), port: port === undefined ? schemePort(scheme) : Number(port) }
}

/** True if a server's URL has this port and one of these hosts. */
export const isUrlOfPort = (url: string, hosts: ReadonlyArray<string>, port: number) => {
  const place = parseHostAndPort(url)
  return place !== undefined && place.port === port && hosts.includes(place.host)
}

/** Replaces the port of a URL. The scheme's default port is omitted, so that a move and its reverse cancel out. */
export const withPort = (url: string, port: number): string =>
  url.replace(
    address,
    (_, scheme: string, host: string) => `${scheme}://${host}${port === schemePort(scheme) ? "" : `:${port}`}`
  )

/** False if the URL has a redundant port, which a move and its reverse would remove. */
export const isReversible = (url: string) => {
  const [, scheme = "", , port] = address.exec(url) ?? []
  return port === undefined || (Number(port) !== schemePort(scheme) && String(Number(port)) === port)
}
