import { isAlias, isMap, isScalar, isSeq, type Node, visit } from "yaml"
import { type ProxyText, readMapValue } from "./proxyText.ts"
import { readSectionEntries } from "./queryProxy.ts"
import { isReversible, withPort } from "./serverUrl.ts"

/** A server of a load balancer, and its position in the text. */
export interface ServerItem {
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
export const readServerUrl = (server: unknown): string | undefined => {
  const url = readMapValue(server, "url")
  return isScalar(url) && typeof url.value === "string" ? url.value : undefined
}

/** End of a node's content, without trailing whitespace and comments. */
const contentEnd = (text: string, [start, end]: readonly [number, number]) =>
  start + text.slice(start, end).trimEnd().length

/** Servers of all load balancers whose notation allows splicing. */
export const listServerItems = (proxy: ProxyText, body: string): ReadonlyArray<ServerItem> =>
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
export const isAlone = (body: string, item: ServerItem) => {
  const { from, to } = linesAround(body, item)
  return body.slice(from, item.start).trim() === "" && /^[ \t]*(?:#[^\n]*)?\r?\n?$/.test(body.slice(item.end, to))
}

/** Replacement of a part of a text. */
export interface BodySplice {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Inserts a copy of a server with another port before it. */
export const buildServerInsertion = (body: string, item: ServerItem, port: number): BodySplice => {
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
export const buildServerRemoval = (body: string, item: ServerItem): BodySplice => {
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
export const spliceBody = (body: string, splices: ReadonlyArray<BodySplice>) =>
  splices.toSorted((one, other) => other.from - one.from).reduce(
    (text, { from, text: put, to }) => text.slice(0, from) + put + text.slice(to),
    body
  )
