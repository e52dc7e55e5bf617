import { Either, Option } from "effect"
import { isAlias, isMap, isScalar, isSeq, type Node, visit } from "yaml"
import { isKey, type ProxyText, readMapValue, readProxy, Refusal, RouteEdit } from "./proxyText.ts"
import {
  isReversible,
  isUrlOfPort,
  listServingServices,
  parseHostAndPort,
  parseRuleHosts,
  readRouterRule,
  readRouterService,
  readSectionEntries,
  withPort
} from "./queryProxy.ts"

/** A server of a load balancer, and its position in the text. */
interface ServerItem {
  readonly service: string
  readonly url: string
  readonly start: number
  readonly end: number
  readonly isFlow: boolean
}

const hasReferences = (node: Node): boolean => {
  let found = isAlias(node)
  visit(node, {
    Node: (_, each) => {
      found ||= isAlias(each) || each.anchor !== undefined
      return found ? visit.BREAK : undefined
    }
  })
  return found
}

/** URL of a server as written; undefined if it has none. */
const readServerUrl = (server: unknown): string | undefined => {
  const url = readMapValue(server, "url")
  return isScalar(url) && typeof url.value === "string" ? url.value : undefined
}

/** End of a node's content, without trailing whitespace and comments. */
const contentEnd = (text: string, [start, end]: readonly [number, number]) =>
  start + text.slice(start, end).trimEnd().length

/** Servers of all load balancers whose notation allows splicing. */
const listServerItems = (proxy: ProxyText, body: string): ReadonlyArray<ServerItem> =>
  [...readSectionEntries(proxy, "services")].flatMap(([service, entry]) => {
    const servers = readMapValue(readMapValue(entry, "loadBalancer"), "servers")
    if (!isSeq(servers) || !isMap(entry) || hasReferences(entry)) return []
    return servers.items.flatMap((server): ReadonlyArray<ServerItem> => {
      const url = readServerUrl(server)
      if (!isMap(server) || url === undefined || !server.range || !isReversible(url)) return []
      const [first, valueEnd] = server.range
      const isFlow = servers.flow === true
      const end = contentEnd(body, [first, valueEnd])
      const dash = isFlow ? first : body.lastIndexOf("-", first)
      const text = body.slice(first, end)
      if (text.split(url).length !== 2 || dash < 0 || body.slice(dash + 1, first).trim() !== "" && !isFlow) return []
      return [{ service, url, start: dash, end, isFlow }]
    })
  })

const lineEnd = (body: string, at: number) => {
  const next = body.indexOf("\n", at)
  return next < 0 ? body.length : next + 1
}

/** Line range of the item, from its dash to the end of its content. */
const linesAround = (body: string, { end, start }: ServerItem) => ({
  from: body.lastIndexOf("\n", start - 1) + 1,
  to: lineEnd(body, end)
})

/** True if the item shares its lines only with a comment. */
const isAlone = (body: string, item: ServerItem) => {
  const { from, to } = linesAround(body, item)
  return body.slice(from, item.start).trim() === "" && /^[ \t]*(?:#[^\n]*)?\r?\n?$/.test(body.slice(item.end, to))
}

/** Replacement of a part of a text. */
interface BodySplice {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Inserts a copy of a server with another port before it. */
const buildServerInsertion = (body: string, item: ServerItem, port: number): BodySplice => {
  const copied = (text: string) => text.replace(item.url, () => withPort(item.url, port))
  if (item.isFlow) {
    return { from: item.start, to: item.start, text: `${copied(body.slice(item.start, item.end))}, ` }
  }
  const { from, to } = linesAround(body, item)
  const lines = copied(body.slice(from, to))
  const eol = body.includes("\r\n") ? "\r\n" : "\n"
  return { from, to: from, text: lines.endsWith("\n") ? lines : `${lines}${eol}` }
}

/** Removes a server with its lines, or with its comma. */
const buildServerRemoval = (body: string, item: ServerItem): BodySplice => {
  if (item.isFlow) {
    const before = /,[ \t]*$/.exec(body.slice(0, item.start))
    if (before !== null) return { from: item.start - before[0].length, to: item.end, text: "" }
    const after = /^[ \t]*,[ \t]*/.exec(body.slice(item.end))
    return { from: item.start, to: item.end + (after?.[0].length ?? 0), text: "" }
  }
  const { from, to } = linesAround(body, item)
  // The previous line becomes the last one and must not end with a line break either.
  const isUnended = to === body.length && !body.endsWith("\n")
  return { from: isUnended ? body.slice(0, from).replace(/\r?\n$/, "").length : from, to, text: "" }
}

/** Applies all replacements, which must not overlap. */
const spliceBody = (body: string, splices: ReadonlyArray<BodySplice>) =>
  splices.toSorted((one, other) => other.from - one.from).reduce(
    (text, { from, text: put, to }) => text.slice(0, from) + put + text.slice(to),
    body
  )

/** Redirection of requests from one port of a server to another. */
export interface PortMove {
  /** Addresses of the server, in lower case; IPv6 ones in brackets. */
  readonly hosts: ReadonlyArray<string>
  readonly from: number
  readonly to: number
}

type Servers = ReadonlyArray<readonly [service: string, urls: ReadonlyArray<string | undefined>]>

const serversIn = (proxy: ProxyText): Servers =>
  [...readSectionEntries(proxy, "services")].flatMap(([name, entry]) => {
    const servers = readMapValue(readMapValue(entry, "loadBalancer"), "servers")
    return isSeq(servers) ? [[name, servers.items.map(readServerUrl)] as const] : []
  })

const otherThings = (proxy: ProxyText): string => {
  const copy = proxy.document.clone()
  visit(copy, {
    Pair: (_, { key, value }) => {
      if (isKey(key, "servers") && isSeq(value)) value.items = []
    }
  })
  return JSON.stringify(copy.toJS())
}

const unfit = (reason: string) => Either.left(Refusal.Unfit({ line: null, reason }))

/** Applies splices and parses the text again, to verify that only the intended servers differ. */
const edited = (
  proxy: ProxyText,
  body: string,
  splices: ReadonlyArray<BodySplice>,
  expected: Servers
): Either.Either<RouteEdit, Refusal> =>
  Either.gen(function*() {
    if (splices.length === 0) return RouteEdit.Unchanged({ reason: "route_exists", warnings: [] })
    const text = proxy.bom + spliceBody(body, splices)
    const after = yield* readProxy(text)
    if (JSON.stringify(serversIn(after)) !== JSON.stringify(expected) || otherThings(after) !== otherThings(proxy)) {
      return yield* unfit("the servers of its load balancers are written in a way that cannot be edited")
    }
    return RouteEdit.Edited({ change: "replaced", text, warnings: [] })
  })

const bodyOf = (proxy: ProxyText, text: string) => text.slice(proxy.bom.length)

/** Adds a server at the new port before each server at the old one, unless its load balancer already has one. */
export const addServers = (text: string, moves: ReadonlyArray<PortMove>): Either.Either<RouteEdit, Refusal> =>
  Either.flatMap(readProxy(text), (proxy) => {
    const body = bodyOf(proxy, text)
    const before = serversIn(proxy)
    const wanted = (service: string, url: string | undefined) => {
      if (url === undefined) return undefined
      const move = moves.find(({ from, hosts }) => isUrlOfPort(url, hosts, from))
      const added = move === undefined ? undefined : { move, url: withPort(url, move.to) }
      const there = before.find(([name]) => name === service)?.[1] ?? []
      return added === undefined || there.includes(added.url) ? undefined : added
    }
    const splices = listServerItems(proxy, body).flatMap((item) => {
      const added = wanted(item.service, item.url)
      return added === undefined || !(item.isFlow || isAlone(body, item))
        ? []
        : [buildServerInsertion(body, item, added.move.to)]
    })
    const expected = before.map(([service, urls]) =>
      [service, urls.flatMap((url) => [...[wanted(service, url)?.url ?? []].flat(), url])] as const
    )
    const count = (servers: Servers) => servers.reduce((sum, [, urls]) => sum + urls.length, 0)
    return count(expected) - count(before) === splices.length
      ? edited(proxy, body, splices, expected)
      : unfit("a load balancer that leads there is written in a way that cannot be edited")
  })

/** Removes each server at the old port whose load balancer has one at the new port. */
export const removeServers = (text: string, moves: ReadonlyArray<PortMove>): Either.Either<RouteEdit, Refusal> =>
  Either.flatMap(readProxy(text), (proxy) => {
    const body = bodyOf(proxy, text)
    const before = serversIn(proxy)
    const isReplaced = (service: string, url: string | undefined) => {
      const there = before.find(([name]) => name === service)?.[1] ?? []
      return url !== undefined &&
        moves.some(({ from, hosts, to }) => isUrlOfPort(url, hosts, from) && there.includes(withPort(url, to)))
    }
    const splices = listServerItems(proxy, body).flatMap((item) =>
      isReplaced(item.service, item.url) && (item.isFlow || isAlone(body, item)) ? [buildServerRemoval(body, item)] : []
    )
    const expected = before.map(([service, urls]) =>
      [service, urls.filter((url) => !isReplaced(service, url))] as const
    )
    return edited(proxy, body, splices, expected)
  })

/**
 * True if a load balancer of the file has a server at a port of these addresses.
 * @param hosts any address if omitted
 */
export const hasServer = (text: string, hosts: ReadonlyArray<string> | undefined, port: number): boolean =>
  Either.match(readProxy(text), {
    // An unreadable file may still route requests there.
    onLeft: () => true,
    onRight: (proxy) =>
      serversIn(proxy).some(([, urls]) =>
        urls.some((url) =>
          hosts === undefined ? parseHostAndPort(url ?? "")?.port === port : isUrlOfPort(url ?? "", hosts, port)
        )
      )
  })

const textAfter = (edit: Either.Either<RouteEdit, Refusal>) =>
  Either.flatMap(
    edit,
    (done) => done._tag === "Edited" ? Either.right(done.text) : unfit("no load balancer leads there")
  )

/** Refuses a file that the moves followed by their reverse would not leave unchanged byte for byte. */
export const checkMoves = (text: string, moves: ReadonlyArray<PortMove>): Either.Either<void, Refusal> =>
  Either.gen(function*() {
    const back = moves.map(({ from, hosts, to }) => ({ hosts, from: to, to: from }))
    const both = yield* textAfter(addServers(text, moves))
    const moved = yield* textAfter(removeServers(both, moves))
    const bothAgain = yield* textAfter(addServers(moved, back))
    const returned = yield* textAfter(removeServers(bothAgain, back))
    if (returned !== text) return yield* unfit("its load balancers are written in a way that an edit would not restore")
  })

/** A route to a port of a server. */
interface PortRoute {
  readonly host: string
  readonly routeName: string
  /** Address of the server in the proxy file. */
  readonly address: string
}

/** Routes to a port of these addresses, one for each host name. */
export const findRoutesToPort = (
  text: string,
  hosts: ReadonlyArray<string>,
  port: number
): Either.Either<ReadonlyArray<PortRoute>, Refusal> =>
  Either.map(readProxy(text), (proxy) => {
    const found = new Map(
      serversIn(proxy).flatMap(([service, urls]) => {
        const url = urls.find((each) => isUrlOfPort(each ?? "", hosts, port))
        return Option.toArray(
          Option.map(Option.fromNullable(parseHostAndPort(url ?? "")), (place) => [service, place.host] as const)
        )
      })
    )
    const services = readSectionEntries(proxy, "services")
    return [...readSectionEntries(proxy, "routers")].flatMap(([routeName, router]) => {
      const to = listServingServices(services, readRouterService(router) ?? "")
        .flatMap(([service]) => found.get(service) ?? [])[0]
      if (to === undefined) return []
      const names = [...new Set(parseRuleHosts(readRouterRule(router)))]
      return (names.length === 0 ? [""] : names).map((host) => ({ host, routeName, address: to }))
    })
  })
