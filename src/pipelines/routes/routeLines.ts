import type { Route } from "../../schema/routes/Route.ts"

/** Middleware of every route's plain-http router; the file is expected to define it. */
export const redirectMiddleware = "redirect-to-https"

/** Router that redirects plain-http requests of a route to https. */
export const formatRedirectRouter = (routeName: string) => `${routeName}-http`

/** `host:port` as written in a URL. */
export const formatTarget = ({ port, targetIp }: Pick<Route, "targetIp" | "port">): string =>
  targetIp.includes(":") ? `[${targetIp}]:${port}` : `${targetIp}:${port}`

// Words and numbers that YAML 1.2, or the older YAML of some proxies, does not read as a string.
const noString = /^(?:[0-9_]+|0[xob][0-9a-f_]+|[0-9_]+e-?[0-9_]+|\d+-\d+-\d+|true|false|null|yes|no|on|off|y|n)$/i

/** Route name as a YAML string, quoted if necessary. */
const written = (name: string): string => (noString.test(name) ? `"${name}"` : name)

const rule = (domain: string) => `rule: "Host(\`${domain}\`)"`

/** The lines of a route's two routers, as entries of the `routers` section. */
export const renderRouterLines = ({ domain, routeName }: Route): ReadonlyArray<string> => [
  `    ${written(routeName)}:`,
  `      ${rule(domain)}`,
  "      entryPoints:",
  "        - https",
  `      service: ${written(routeName)}`,
  "      tls:",
  "        certResolver: letsencrypt",
  `    ${written(formatRedirectRouter(routeName))}:`,
  `      ${rule(domain)}`,
  "      entryPoints:",
  "        - http",
  "      middlewares:",
  `        - ${redirectMiddleware}`,
  `      service: ${written(routeName)}`
]

/** The lines of a route's service, as an entry of the `services` section. */
export const renderServiceLines = (route: Route): ReadonlyArray<string> => [
  `    ${written(route.routeName)}:`,
  "      loadBalancer:",
  "        servers:",
  `          - url: "http://${formatTarget(route)}"`
]

/**
 * Keys within every written route. They are indented deeper than the names of routes, so a route may have the same name
 * as one of them.
 */
export const routeKeys: ReadonlyArray<string> = [
  "routers",
  "services",
  "middlewares",
  "rule",
  "entryPoints",
  "service",
  "tls",
  "certResolver",
  "loadBalancer",
  "servers",
  "url"
]
