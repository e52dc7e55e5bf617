import { Either } from "effect"
import type { Route } from "../../schema/routes.ts"
import { findOutside, requireOutside } from "./goTemplates.ts"
import {
  closeSectionHeader,
  findSectionEnd,
  findSections,
  isBlank,
  isContent,
  type Line,
  measureIndent,
  openSectionHeader,
  parseKeyLine,
  Refusal,
  type Section
} from "./proxyText.ts"

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

/** The lines of the router that serves a route, as an entry of the `routers` section. */
export const renderServingRouterLines = ({ domain, routeName }: Route): ReadonlyArray<string> => [
  `    ${written(routeName)}:`,
  `      ${rule(domain)}`,
  "      entryPoints:",
  "        - https",
  `      service: ${written(routeName)}`,
  "      tls:",
  "        certResolver: letsencrypt"
]

/** The lines of the router that redirects plain-http requests. */
export const renderRedirectRouterLines = ({ domain, routeName }: Route): ReadonlyArray<string> => [
  `    ${written(formatRedirectRouter(routeName))}:`,
  `      ${rule(domain)}`,
  "      entryPoints:",
  "        - http",
  "      middlewares:",
  `        - ${redirectMiddleware}`,
  `      service: ${written(routeName)}`
]

/** The lines of a route's two routers, as entries of the `routers` section. */
export const renderRouterLines = (route: Route): ReadonlyArray<string> => [
  ...renderServingRouterLines(route),
  ...renderRedirectRouterLines(route)
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
const routeKeys: ReadonlyArray<string> = [
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

type Lines = ReadonlyArray<Line>

/** Finds a section by name; refuses a file without it. */
const section = (lines: Lines, name: string): Either.Either<Section, Refusal> =>
  Either.fromNullable(findSections(lines).find((found) => found.name === name), () =>
    Refusal.Unfit({
      line: null,
      reason: `it has no "${name}:" section: a line of two spaces and "${name}:" that its entries follow`
    }))

/** Refuses lines without one of the sections that every proxy file needs. */
export const withSections = (lines: Lines): Either.Either<Lines, Refusal> =>
  Either.map(Either.all([section(lines, "routers"), section(lines, "services")]), () => lines)

const withoutFinalNewline = (lines: Lines): Lines =>
  lines.map((line, index) => (index === lines.length - 1 ? { ...line, end: "" } : line))

const endsBare = (lines: Lines) => lines.at(-1)?.end === ""

/** Inserts new lines before an index, with the line ends of the file; does not add a missing final newline. */
const insert = (lines: Lines, index: number, texts: ReadonlyArray<string>): Lines => {
  const end = lines[0]?.end || "\n"
  const added = texts.map((text) => ({ text, end, http: true, literal: false }))
  const ended = lines.map((line) => (line.end === "" ? { ...line, end } : line))
  const all = [...ended.slice(0, index), ...added, ...ended.slice(index)]
  return endsBare(lines) ? withoutFinalNewline(all) : all
}

const open = (lines: Lines, { header }: Section): Lines =>
  lines.map((line, index) => (index === header ? openSectionHeader(line) : line))

/** Lines of entries to add to both sections. */
export interface RouteParts {
  readonly routers: ReadonlyArray<string>
  readonly services: ReadonlyArray<string>
}

const addRouters = (lines: Lines, added: ReadonlyArray<string>): Either.Either<Lines, Refusal> =>
  Either.gen(function*() {
    const routers = yield* section(lines, "routers")
    if (added.length === 0) return lines
    const next = findSections(lines).find(({ header }) => header === routers.end)
    const follows = next?.name === "middlewares" || next?.name === "services"
    const end = findOutside(lines, findSectionEnd(lines, routers), routers.end)
    const place = follows ? Either.orElse(findOutside(lines, routers.end, routers.end), () => end) : end
    return insert(open(lines, routers), yield* place, added)
  })

const addServices = (lines: Lines, added: ReadonlyArray<string>): Either.Either<Lines, Refusal> =>
  Either.gen(function*() {
    const services = yield* section(lines, "services")
    if (added.length === 0) return lines
    const place = yield* findOutside(lines, findSectionEnd(lines, services), services.end)
    return insert(open(lines, services), place, added)
  })

/**
 * Adds routers at the end of `routers`, immediately before the section that follows it, and services at the end of
 * `services`.
 */
export const addLines = (lines: Lines, { routers, services }: RouteParts): Either.Either<Lines, Refusal> =>
  Either.flatMap(addRouters(lines, routers), (added) => addServices(added, services))

const isEmptyLine = (line: Line | undefined) => line !== undefined && !line.literal && isBlank(line.text)

/** Collapses consecutive blank lines, except within a scalar. */
const collapseBlanks = (lines: Lines): Lines =>
  lines.filter((line, index) => !(isEmptyLine(line) && isEmptyLine(lines[index - 1])))

/** Finds entries by name at four spaces of indent, with the lines that belong to them. */
const entryLines = (lines: Lines, names: ReadonlyArray<string>): ReadonlyArray<boolean> => {
  let inside = false
  // A comment left of an entry, as editors comment lines out, belongs to it if the entry goes on behind it.
  const goesOn: Array<boolean> = []
  for (let index = lines.length - 1, deeper = false; index >= 0; index--) {
    const line = lines[index]
    if (line !== undefined && isContent(line)) deeper = line.literal || measureIndent(line.text) > 4
    goesOn[index] = deeper
  }
  return lines.map((line, index) => {
    const key = parseKeyLine(line)
    const deeper = line.literal || isBlank(line.text) || measureIndent(line.text) > 4 ||
      (!isContent(line) && goesOn[index] === true)
    inside = line.http && (deeper ? inside : key?.indent === 4 && names.includes(key.key))
    return inside
  })
}

/** Writes `{}` after the headers of sections that become empty. */
const closeEmptied = (lines: Lines, gone: ReadonlyArray<boolean>): Lines => {
  const emptied = new Set(
    findSections(lines).filter(({ end, header }) => {
      const content = lines.slice(header + 1, end).flatMap((line, index) =>
        isContent(line) ? [gone[header + 1 + index] === true] : []
      )
      return content.includes(true) && !content.includes(false)
    }).map(({ header }) => header)
  )
  return lines.map((line, index) => (emptied.has(index) ? closeSectionHeader(line) : line))
}

/** First line of each run of lines, and the line behind it. */
const runsOf = (marked: ReadonlyArray<boolean>): ReadonlyArray<readonly [from: number, to: number]> =>
  marked.flatMap((is, index) => {
    if (!is || marked[index - 1] === true) return []
    const length = marked.slice(index).findIndex((each) => !each)
    return [[index, length < 0 ? marked.length : index + length] as const]
  })

/**
 * Removes the lines of a route's entries from all sections under `http`; refuses to take a part of a template with them.
 * Does not add a missing final newline.
 */
export const removeLines = (lines: Lines, routeName: string): Either.Either<Lines, Refusal> => {
  const gone = entryLines(lines, [routeName, formatRedirectRouter(routeName)])
  const kept = collapseBlanks(closeEmptied(lines, gone).filter((_, index) => gone[index] !== true))
  return Either.map(
    requireOutside(lines, runsOf(gone)),
    () => endsBare(lines) ? withoutFinalNewline(kept) : kept
  )
}

/**
 * Index of the first line that begins with `<routeName>:`. For a name that is also a key of routes, only lines at four
 * spaces count, as route names are written there.
 */
export const findNamedLine = (lines: Lines, routeName: string): number | undefined => {
  const isRouteKey = routeKeys.some((key) => key.toLowerCase() === routeName.toLowerCase())
  const index = lines.findIndex((line) => {
    const key = parseKeyLine(line)
    return line.http && key !== undefined && key.key === routeName && key.indent > 0 &&
      (key.indent === 4 || !isRouteKey)
  })
  return index === -1 ? undefined : index
}
