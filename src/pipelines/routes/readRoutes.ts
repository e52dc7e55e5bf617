import { Either } from "effect"
import type { ListedRoute } from "../../schema/routes/RouteList.ts"
import { type ProxyText, readMapValue, readProxy } from "./proxyText.ts"
import {
  listMiddlewares,
  listServiceServers,
  parseRuleHosts,
  readRouterRule,
  readRouterService,
  readSectionEntries
} from "./queryProxy.ts"
import { formatRedirectRouter, renderRouterLines, renderServiceLines } from "./routeLines.ts"
import { listMapEntries, type Shape } from "./yamlEntries.ts"

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
      targets: service === undefined ? [] : [...listServiceServers(services.get(service))],
      redirects: redirect !== undefined,
      missingMiddlewares: [...new Set(used)].filter((name) => !name.includes("@") && !defined.has(name))
    }]
  })
  const ours = writtenByBerth(proxy, routes)
  return routes.map((route) => ({ ...route, madeBy: ours.has(route.routeName) ? "berth" : "other" }))
}
