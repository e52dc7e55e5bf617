import { isMap, isScalar, isSeq } from "yaml"
import { keyOf, type ProxyText, valueOf } from "./proxyText.ts"

const textOf = (node: unknown): string | undefined =>
  isScalar(node) && typeof node.value === "string" ? node.value : undefined

const itemsOf = (node: unknown): ReadonlyArray<unknown> => (isSeq(node) ? node.items : [])

/** The entries of a section, by name. */
export const entriesIn = ({ http }: ProxyText, section: string): ReadonlyMap<string, unknown> => {
  const entries = valueOf(http, section)
  return new Map(
    isMap(entries)
      ? entries.items.flatMap(({ key, value }) => {
        const name = keyOf(key)
        return name === undefined ? [] : [[name, value] as const]
      })
      : []
  )
}

/** The names of a section's entries. */
export const namesIn = (proxy: ProxyText, section: string): ReadonlyArray<string> =>
  Array.from(entriesIn(proxy, section).keys())

/** The routers of which something holds, in the order of the file. */
const routersThat = (proxy: ProxyText, holds: (router: unknown) => boolean): ReadonlyArray<string> =>
  Array.from(entriesIn(proxy, "routers")).flatMap(([name, router]) => holds(router) ? [name] : [])

/** The service that a router uses; `app@file` is `app`. */
export const serviceOf = (router: unknown) => textOf(valueOf(router, "service"))?.replace(/@file$/, "")

const defaultPorts = new Map([["http", "80"], ["https", "443"], ["h2c", "80"]])

/** `host:port` of a URL, with its scheme's port when it names none. */
const authority = (url: string): string | undefined => {
  const [, scheme, host] = /^([a-z][a-z0-9]*):\/\/([^/?#]+)/i.exec(url) ?? []
  if (scheme === undefined || host === undefined) return undefined
  const port = defaultPorts.get(scheme.toLowerCase())
  return (/:\d+$/.test(host) || port === undefined ? host : `${host}:${port}`).toLowerCase()
}

/** Targets of a service: each server's `host:port`. */
export const serversOf = (service: unknown): ReadonlyArray<string> => {
  const balancer = valueOf(service, "loadBalancer")
  return itemsOf(valueOf(balancer, "servers")).flatMap((server) =>
    authority(textOf(valueOf(server, "url")) ?? "") ?? []
  )
}

/** Targets of a route: the servers of the service with its name, or of the service its router uses. */
export const targetsOf = (proxy: ProxyText, name: string): ReadonlyArray<string> => {
  const services = entriesIn(proxy, "services")
  if (services.has(name)) return serversOf(services.get(name))
  const service = serviceOf(entriesIn(proxy, "routers").get(name))
  return service === undefined ? [] : serversOf(services.get(service))
}

/** The host names that a rule asks for, lower case: those of `Host(…)` in any quoting, unless it is negated. */
export const hostsOf = (rule: string): ReadonlyArray<string> =>
  Array.from(rule.matchAll(/(!\s*)?\bHost(?:Header)?\s*\(([^()]*)\)/g)).flatMap(([, negation, list]) =>
    negation === undefined
      ? Array.from((list ?? "").matchAll(/[`"']([^`"']+)[`"']/g)).flatMap(([, host]) => host?.toLowerCase() ?? [])
      : []
  )

/** The rule of a router; empty where it has none. */
export const ruleOf = (router: unknown): string => textOf(valueOf(router, "rule")) ?? ""

/** The host names that a router asks for. */
export const domainsOf = (proxy: ProxyText, router: string): ReadonlyArray<string> =>
  hostsOf(ruleOf(entriesIn(proxy, "routers").get(router)))

/** The routers whose rule asks for a domain, in the order of the file. */
export const routersFor = (proxy: ProxyText, domain: string): ReadonlyArray<string> =>
  routersThat(proxy, (router) => hostsOf(ruleOf(router)).includes(domain.toLowerCase()))

/** True if a router's rule matches a domain. */
export const hasHostRule = (proxy: ProxyText, domain: string): boolean => routersFor(proxy, domain).length > 0

/** Targets of a domain's routers. */
export const targetsFor = (proxy: ProxyText, domain: string): ReadonlyArray<string> => {
  const routers = entriesIn(proxy, "routers")
  const services = entriesIn(proxy, "services")
  const used = new Set(routersFor(proxy, domain).flatMap((name) => serviceOf(routers.get(name)) ?? []))
  return Array.from(new Set(Array.from(used).flatMap((name) => serversOf(services.get(name)))))
}

/** The routers that use a service. */
export const usersOfService = (proxy: ProxyText, service: string): ReadonlyArray<string> =>
  routersThat(proxy, (router) => serviceOf(router) === service)

/** The middlewares that a router uses; `a@file` is `a`. */
export const middlewaresOf = (router: unknown): ReadonlyArray<string> =>
  itemsOf(valueOf(router, "middlewares")).flatMap((item) => textOf(item)?.replace(/@file$/, "") ?? [])

/** The routers that use a middleware. */
export const usersOfMiddleware = (proxy: ProxyText, middleware: string): ReadonlyArray<string> =>
  routersThat(proxy, (router) => middlewaresOf(router).includes(middleware))

/** The middlewares of a router that the file does not define; those of another provider, as `a@docker`, are not its own. */
export const missingMiddlewares = (proxy: ProxyText, router: string): ReadonlyArray<string> => {
  const defined = entriesIn(proxy, "middlewares")
  return middlewaresOf(entriesIn(proxy, "routers").get(router)).filter((name) =>
    !name.includes("@") && !defined.has(name)
  )
}
