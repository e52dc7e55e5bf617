import type { Route } from "../../schema/routes/Route.ts"
import type { ProxyText } from "./proxyText.ts"
import {
  findRoutersForDomain,
  listMiddlewares,
  listServiceServers,
  readRouterService,
  readSectionEntries
} from "./queryProxy.ts"
import { formatTarget, redirectMiddleware } from "./routeLines.ts"

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
      listServiceServers(services.get(service)).includes(formatTarget(place).toLowerCase())
  })
}
