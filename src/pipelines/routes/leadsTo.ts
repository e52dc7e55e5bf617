import type { Route } from "../../schema/routes/Route.ts"
import type { ProxyText } from "./proxyText.ts"
import { entriesIn, middlewaresOf, routersFor, serversOf, serviceOf } from "./queryProxy.ts"
import { redirectMiddleware, targetOf } from "./routeLines.ts"

/**
 * True if a proxy file routes a domain to a target: by the route of this name if that serves the domain, else by any
 * router for it. A router that only redirects plain http serves nothing.
 */
export const leadsTo = (proxy: ProxyText, { domain, routeName, ...place }: Route): boolean => {
  const routers = entriesIn(proxy, "routers")
  const services = entriesIn(proxy, "services")
  const serving = routersFor(proxy, domain).filter((name) =>
    !middlewaresOf(routers.get(name)).includes(redirectMiddleware)
  )
  const decisive = serving.includes(routeName) ? [routeName] : serving
  return decisive.some((name) => {
    const service = serviceOf(routers.get(name))
    return service !== undefined && serversOf(services.get(service)).includes(targetOf(place).toLowerCase())
  })
}
