import { Either } from "effect"
import type { ListedRoute } from "../../schema/routes/RouteList.ts"
import { type ProxyText, readProxy, valueOf } from "./proxyText.ts"
import { entriesIn, hostsOf, middlewaresOf, ruleOf, serversOf, serviceOf } from "./queryProxy.ts"
import { redirectRouter, routerLines, serviceLines } from "./routeLines.ts"
import { entriesOf, type Shape } from "./yamlEntries.ts"

/** A route of the proxy file, before it is known who declares it. */
export type FoundRoute = Omit<ListedRoute, "applications">

const longestRule = 300

/** Entries of a file's sections, by section and name. */
const shapesOf = (proxy: ProxyText): ReadonlyMap<string, Shape> =>
  new Map(
    ["routers", "services"].flatMap((section) =>
      entriesOf(valueOf(proxy.http, section)).map(({ name, shape }) => [`${section} ${name}`, shape] as const)
    )
  )

/** The place that a target has in a route of ours: an address and a port. */
const parseTarget = (target: string) => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(target) ?? []
  const targetIp = bracketed ?? plain
  return targetIp === undefined ? undefined : { targetIp, port: Number(port) }
}

/** The names of those routes that have exactly the form that they would be written with. */
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
    ...candidates.flatMap(routerLines),
    "  services:",
    ...candidates.flatMap(serviceLines)
  ].join("\n")
  const expected = Either.match(readProxy(text), { onLeft: () => new Map<string, Shape>(), onRight: shapesOf })
  const found = shapesOf(proxy)
  const isAsWritten = (key: string) =>
    expected.has(key) && JSON.stringify(expected.get(key)) === JSON.stringify(found.get(key))
  return new Set(
    candidates.flatMap(({ routeName }) =>
      [`routers ${routeName}`, `routers ${redirectRouter(routeName)}`, `services ${routeName}`].every(isAsWritten)
        ? [routeName]
        : []
    )
  )
}

/** The routes of a proxy file, in its order. A router that only sends plain http on belongs to the route it is named after. */
export const readRoutes = (proxy: ProxyText): ReadonlyArray<FoundRoute> => {
  const routers = entriesIn(proxy, "routers")
  const services = entriesIn(proxy, "services")
  const defined = entriesIn(proxy, "middlewares")
  const redirects = new Set([...routers.keys()].map(redirectRouter).filter((name) => routers.has(name)))
  const routes = [...routers].flatMap(([routeName, router]) => {
    if (redirects.has(routeName)) return []
    const redirect = routers.get(redirectRouter(routeName))
    const rule = ruleOf(router)
    const service = serviceOf(router)
    const used = [...middlewaresOf(router), ...middlewaresOf(redirect)]
    return [{
      routeName,
      domains: [...new Set(hostsOf(rule))],
      rule: rule.length > longestRule ? `${rule.slice(0, longestRule)}…` : rule,
      targets: service === undefined ? [] : [...serversOf(services.get(service))],
      redirects: redirect !== undefined,
      missingMiddlewares: [...new Set(used)].filter((name) => !name.includes("@") && !defined.has(name))
    }]
  })
  const ours = writtenByBerth(proxy, routes)
  return routes.map((route) => ({ ...route, madeBy: ours.has(route.routeName) ? "berth" : "other" }))
}
