import { isMap, isScalar, isSeq } from "yaml"
import { keyOf, type ProxyText, valueOf } from "./proxyText.ts"

const textOf = (node: unknown): string | undefined =>
  isScalar(node) && typeof node.value === "string" ? node.value : undefined

const itemsOf = (node: unknown): ReadonlyArray<unknown> => (isSeq(node) ? node.items : [])

/** The names of a section's entries. */
export const namesIn = ({ http }: ProxyText, section: string): ReadonlyArray<string> => {
  const entries = valueOf(http, section)
  return isMap(entries) ? entries.items.flatMap(({ key }) => keyOf(key) ?? []) : []
}

/** The service that a router uses; `app@file` is `app`. */
const serviceOf = (router: unknown) => textOf(valueOf(router, "service"))?.replace(/@file$/, "")

const defaultPorts: { readonly [scheme: string]: string } = { http: "80", https: "443", h2c: "80" }

/** `host:port` of a URL, with its scheme's port when it names none. */
const authority = (url: string): string | undefined => {
  const [, scheme, host] = /^([a-z][a-z0-9]*):\/\/([^/?#]+)/i.exec(url) ?? []
  if (scheme === undefined || host === undefined) return undefined
  const port = defaultPorts[scheme.toLowerCase()]
  return (/:\d+$/.test(host) || port === undefined ? host : `${host}:${port}`).toLowerCase()
}

/** Where a service sends requests: each server's `host:port`. */
const serversOf = ({ http }: ProxyText, service: string): ReadonlyArray<string> => {
  const balancer = valueOf(valueOf(valueOf(http, "services"), service), "loadBalancer")
  return itemsOf(valueOf(balancer, "servers")).flatMap((server) =>
    authority(textOf(valueOf(server, "url")) ?? "") ?? []
  )
}

/** Where a route sends requests: the servers of the service with its name, or of the service its router uses. */
export const targetsOf = (proxy: ProxyText, name: string): ReadonlyArray<string> => {
  if (namesIn(proxy, "services").includes(name)) return serversOf(proxy, name)
  const service = serviceOf(valueOf(valueOf(proxy.http, "routers"), name))
  return service === undefined ? [] : serversOf(proxy, service)
}

/** The host names that a rule asks for, lower case: those of `Host(…)` in any quoting, unless it is negated. */
const hostsOf = (rule: string): ReadonlyArray<string> =>
  Array.from(rule.matchAll(/(!\s*)?\bHost(?:Header)?\s*\(([^()]*)\)/g)).flatMap(([, negation, list]) =>
    negation === undefined
      ? Array.from((list ?? "").matchAll(/[`"']([^`"']+)[`"']/g)).flatMap(([, host]) => host?.toLowerCase() ?? [])
      : []
  )

/** The routers whose rule asks for a domain, in the order of the file. */
export const routersFor = (proxy: ProxyText, domain: string): ReadonlyArray<string> =>
  namesIn(proxy, "routers").filter((name) =>
    hostsOf(textOf(valueOf(valueOf(valueOf(proxy.http, "routers"), name), "rule")) ?? "").includes(domain.toLowerCase())
  )

/** Whether some router's rule asks for a domain. */
export const hasHostRule = (proxy: ProxyText, domain: string): boolean => routersFor(proxy, domain).length > 0

/** Where the routers of a domain send requests. */
export const targetsFor = (proxy: ProxyText, domain: string): ReadonlyArray<string> => {
  const services = routersFor(proxy, domain).flatMap((name) =>
    serviceOf(valueOf(valueOf(proxy.http, "routers"), name)) ?? []
  )
  return Array.from(new Set(services.flatMap((service) => serversOf(proxy, service))))
}

/** The routers that use a service. */
export const usersOfService = (proxy: ProxyText, service: string): ReadonlyArray<string> =>
  namesIn(proxy, "routers").filter((name) => serviceOf(valueOf(valueOf(proxy.http, "routers"), name)) === service)

/** The routers that use a middleware. */
export const usersOfMiddleware = (proxy: ProxyText, middleware: string): ReadonlyArray<string> =>
  namesIn(proxy, "routers").filter((name) =>
    itemsOf(valueOf(valueOf(valueOf(proxy.http, "routers"), name), "middlewares"))
      .some((item) => textOf(item)?.replace(/@file$/, "") === middleware)
  )
