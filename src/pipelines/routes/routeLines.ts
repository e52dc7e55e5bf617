import type { Route } from "../../schema/routes/Route.ts"

/** The middleware that the plain-http router of every route uses; the file is expected to define it. */
export const redirectMiddleware = "redirect-to-https"

/** The router that sends plain-http requests of a route on to https. */
export const formatRedirectRouter = (routeName: string) => `${routeName}-http`

/** `host:port` as it stands in a URL. */
export const formatTarget = ({ port, targetIp }: Pick<Route, "targetIp" | "port">): string =>
  targetIp.includes(":") ? `[${targetIp}]:${port}` : `${targetIp}:${port}`

// Words and numbers that YAML, or the older YAML of some proxies, would not read as a string.
const noString = /^(?:[0-9_]+|0[xob][0-9a-f_]+|[0-9_]+e-?[0-9_]+|\d+-\d+-\d+|true|false|null|yes|no|on|off|y|n)$/i

/** A route name as a YAML string. */
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
 * The keys that every route is written with. They stand deeper in the file than the names of routes, and a route may
 * still be called like one of them.
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
