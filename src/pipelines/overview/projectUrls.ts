import { Either, Option } from "effect"
import type { ObservedApplication } from "../../schema/Overview.ts"
import type { Server } from "../../schema/servers/Server.ts"
import type { RoutedDomain } from "./observeRoutes.ts"
import type { KnownProject } from "./readCachedProjects.ts"

const mostUrls = 20

/** A port that a container publishes on its server. */
export interface PortBinding {
  /** Bind address; empty for all addresses. */
  readonly address: string
  readonly port: number
  readonly containerPort: number
}

const mapping = /^(.*):(\d{1,5})(?:-(\d{1,5}))?->(\d{1,5})(?:-\d{1,5})?\/tcp$/
const everyAddress: ReadonlySet<string> = new Set(["0.0.0.0", "::", ""])
const isLoopback = (host: string) => /^127\.|^::1$|^localhost$/i.test(host)

/** Parses published TCP ports in Docker's notation: `0.0.0.0:2000->3000/tcp`, or a range of them. */
export const parsePublishedPorts = (ports: ReadonlyArray<string>): ReadonlyArray<PortBinding> =>
  ports.flatMap((words) => {
    const [, address = "", first, last = first, inside] = mapping.exec(words) ?? []
    if (first === undefined || last === undefined || inside === undefined) return []
    const bound = address.replace(/^\[(.*)\]$/, "$1").replace(/^::?$/, "::")
    const count = Math.min(Math.max(0, Number(last) - Number(first)), mostUrls) + 1
    return Array.from({ length: count }, (_, index): PortBinding => ({
      address: everyAddress.has(bound) ? "" : bound,
      port: Number(first) + index,
      containerPort: Number(inside) + index
    }))
  })

const bracketed = (host: string) => host.includes(":") ? `[${host}]` : host

/** Builds a link; none if special characters in the host would change its target. */
const linkTo = (scheme: "http" | "https", host: string): ReadonlyArray<string> => {
  const url = `${scheme}://${host}`
  // A URL's origin omits the default port of its scheme.
  const usualPort = scheme === "https" ? /:443$/ : /:80$/
  return URL.canParse(url) && new URL(url).origin === url.toLowerCase().replace(usualPort, "") ? [url] : []
}

const portUrl = ({ host }: Pick<Server, "host">) => ({ address, containerPort, port }: PortBinding) =>
  // A loopback address on another machine cannot be reached by a link.
  isLoopback(address) && !isLoopback(host)
    ? []
    : linkTo(containerPort === 443 ? "https" : "http", `${bracketed(address === "" ? host : address)}:${port}`)

/** Domains of the declared applications that the platform has. */
const declaredDomains = ({ declared }: KnownProject, applications: ReadonlyArray<ObservedApplication>) =>
  Either.getOrElse(declared, () => []).flatMap(({ declared: { entry: { domain, name } }, projectPath }) =>
    applications.some((app) => app.name === name && app.projectPath === projectPath && app.uuid !== null)
      ? Option.toArray(Option.fromNullable(domain))
      : []
  )

/** Hosts of a published port in the proxy file. A loopback address counts only for the proxy's own server. */
const proxied = (address: string, hosts: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (address === "") return hosts
  const host = bracketed(address).toLowerCase()
  return isLoopback(address) && !hosts.includes(host) ? [] : [host]
}

/** Links to a project: domains of its applications, domains routed to its ports, and the ports themselves. */
export const listProjectUrls = (
  project: KnownProject,
  { applications, hosts, ports, routed, server }: {
    readonly applications: ReadonlyArray<ObservedApplication>
    /** Addresses that refer to the server in the proxy file. */
    readonly hosts: ReadonlyArray<string>
    readonly ports: ReadonlyArray<string>
    readonly routed: ReadonlyArray<RoutedDomain>
    readonly server: Pick<Server, "host"> | undefined
  }
): ReadonlyArray<string> => {
  const published = server === undefined ? [] : parsePublishedPorts(ports)
  const targets = new Set(
    published.flatMap(({ address, port }) => proxied(address, hosts).map((host) => `${host}:${port}`))
  )
  const domains = [
    ...declaredDomains(project, applications),
    ...routed.flatMap(({ domain, target }) => (targets.has(target.toLowerCase()) ? [domain] : []))
  ]
  const urls = [
    ...domains.flatMap((domain) => linkTo("https", domain)),
    ...server === undefined ? [] : published.flatMap(portUrl(server))
  ]
  return [...new Set(urls)].slice(0, mostUrls)
}
