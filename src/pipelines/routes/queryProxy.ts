import { isMap, isScalar, isSeq } from "yaml"
import { type ProxyText, readMapValue, readPairKey } from "./proxyText.ts"

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

/** `host:port` of a URL, with the scheme's default port if it has none. */
const authority = (url: string): string | undefined => {
  const [, scheme, host] = /^([a-z][a-z0-9]*):\/\/([^/?#]+)/i.exec(url) ?? []
  if (scheme === undefined || host === undefined) return undefined
  const port = defaultPorts.get(scheme.toLowerCase())
  return (/:\d+$/.test(host) || port === undefined ? host : `${host}:${port}`).toLowerCase()
}

/** Targets of a service: each server's `host:port`. */
export const listServiceServers = (service: unknown): ReadonlyArray<string> => {
  const balancer = readMapValue(service, "loadBalancer")
  return itemsOf(readMapValue(balancer, "servers")).flatMap((server) =>
    authority(textOf(readMapValue(server, "url")) ?? "") ?? []
  )
}

/** Targets of a route: the servers of the service with its name, or of the service that its router uses. */
export const listRouteTargets = (proxy: ProxyText, name: string): ReadonlyArray<string> => {
  const services = readSectionEntries(proxy, "services")
  if (services.has(name)) return listServiceServers(services.get(name))
  const service = readRouterService(readSectionEntries(proxy, "routers").get(name))
  return service === undefined ? [] : listServiceServers(services.get(service))
}

/** Host names in a rule, in lower case: those of `Host(…)` in any quoting, unless negated. */
export const parseRuleHosts = (rule: string): ReadonlyArray<string> =>
  Array.from(rule.matchAll(/(!\s*)?\bHost(?:Header)?\s*\(([^()]*)\)/g)).flatMap(([, negation, list]) =>
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
  return Array.from(new Set(Array.from(used).flatMap((name) => listServiceServers(services.get(name)))))
}

/** The routers that use a service. */
export const findRoutersUsingService = (proxy: ProxyText, service: string): ReadonlyArray<string> =>
  routersThat(proxy, (router) => readRouterService(router) === service)

/** Middlewares of a router; `a@file` becomes `a`. */
export const listMiddlewares = (router: unknown): ReadonlyArray<string> =>
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
