import { Path } from "@effect/platform"
import { Array as Arr, Effect, Option, Predicate } from "effect"
import { parsePorts, portsCommand } from "../remote/server.ts"
import { Disclosed, type PlatformRecord } from "../schema/applications.ts"
import { hostPortKey } from "../schema/declaredFields.ts"
import { HostPortHidden, type NextPort, NoPortLeft, type PortUse } from "../schema/routes.ts"
import { LocalFiles } from "../services/local/LocalFiles.ts"
import { Platform } from "../services/platform/Platform.ts"
import { bridgePorts, isBridgePort, logScrubbedWarning, scrubSecrets, Settings } from "../services/settings/Settings.ts"
import { execute, type Ssh } from "../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../services/upstream/Upstream.ts"
import { findHostPort, highestPort, parseHostPorts } from "./applications/applications.ts"
import { readProjectText } from "./projects/files.ts"
import { parseEnv, resolveEnvValues } from "./projects/interpolate.ts"
import { proxyLocation, readProxyText } from "./routes/proxyFile.ts"

const numberOf = (ip: string): number | undefined => {
  const octets = ip.split(".").map(Number)
  return octets.length === 4 && octets.every((octet) => octet <= 255)
    ? octets.reduce((sum, octet) => sum * 256 + octet, 0)
    : undefined
}

/** True if an address is in a subnet such as `192.168.1.0/24`. */
const inSubnet = (subnet: string) => (ip: string): boolean => {
  const [base = "", length = "32"] = subnet.split("/")
  const [network, address] = [numberOf(base), numberOf(ip)]
  const size = 2 ** (32 - Number(length))
  return network !== undefined && address !== undefined && Math.floor(network / size) === Math.floor(address / size)
}

const privateSubnets = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]

/** A port used behind the proxy, and its address in the proxy file. */
interface ProxyTarget {
  readonly port: number
  readonly url: string
}

/**
 * Upstream addresses in the proxy file, in the order of the file. Counts only those within the subnet; without a
 * subnet, all private ones.
 */
const listProxyTargets = (text: string, subnet?: string): ReadonlyArray<ProxyTarget> => {
  const subnets = (subnet === undefined ? privateSubnets : [subnet]).map(inSubnet)
  return Array.from(
    text.matchAll(/http:\/\/(\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})(?!\d)/g),
    ([url, ip, port]) =>
      ip !== undefined && subnets.some((contains) => contains(ip)) ? { port: Number(port), url } : undefined
  ).filter(Predicate.isNotUndefined).filter(({ port }) => port >= 1 && port <= 65535)
}

/** Ports of `proxyTargets`, ascending and without duplicates. */
export const listUsedPorts = (text: string, subnet?: string): ReadonlyArray<number> =>
  Array.from(new Set(listProxyTargets(text, subnet).map(({ port }) => port))).sort((one, other) => one - other)

/** A port in use, and its user. */
interface UsedPort extends PortUse {
  readonly port: number
}

/** Ports in use, with warnings about sources that could not be read. */
interface PortUses {
  readonly uses: ReadonlyArray<UsedPort>
  readonly unread: ReadonlyArray<string>
}

/** Result of a source that cannot be read: no ports, and a warning. */
const reportUnreadUses = (what: string) => ({ message }: { readonly message: string }) =>
  Effect.succeed<PortUses>({ uses: [], unread: [`${what} unknown: ${message}`] })

const mergePortUses = (all: ReadonlyArray<PortUses>): PortUses => ({
  uses: all.flatMap(({ uses }) => uses),
  unread: all.flatMap(({ unread }) => unread)
})

/** Port of an application. Ignores an application whose variables cannot be read; fails if the port is hidden. */
const usesOfApp = ({ name, uuid }: PlatformRecord) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const port = findHostPort(yield* platform.envs(uuid))
    if (Option.isNone(port)) return { uses: [], unread: [] }
    const text = yield* Disclosed.$match(port.value.value, {
      Known: ({ value }) => Effect.succeed(value),
      Absent: () => Effect.succeed(""),
      Hidden: ({ reason }) => new HostPortHidden({ app: name, reason })
    })
    return { uses: parseHostPorts(text).map((port): UsedPort => ({ port, kind: "variable", what: name })), unread: [] }
  }).pipe(
    Effect.catchIf(
      (error) => error._tag !== "HostPortHidden",
      reportUnreadUses(`The port of "${name}" is`)
    )
  )

/** The ports of the platform's applications. */
const variableUses = Effect.gen(function*() {
  const platform = yield* Platform
  const apps = yield* platform.applications
  return mergePortUses(yield* Effect.forEach(apps, usesOfApp, { concurrency: 16 }))
}).pipe(
  Effect.catchIf((error) => error._tag !== "HostPortHidden", reportUnreadUses("The applications' ports are"))
)

/** Ports that the proxy file forwards requests to. */
const routeUses = Effect.gen(function*() {
  const settings = yield* Settings
  const subnet = yield* settings.find("proxy.subnet")
  const text = yield* readProxyText(yield* proxyLocation)
  const uses = listProxyTargets(text, Option.getOrUndefined(subnet)).map(({ port, url }): UsedPort => ({
    port,
    kind: "route",
    what: url
  }))
  return { uses, unread: [] }
}).pipe(Effect.catchAll(reportUnreadUses("The proxy's ports are")))

/** Highest used port to assume if there is none. */
const base = 2006
/** Port of the very first application. */
export const firstPort = base + 1

/** Ports in use, ascending and without duplicates. */
const listPortNumbers = (uses: ReadonlyArray<UsedPort>): ReadonlyArray<number> =>
  Array.from(new Set(uses.map(({ port }) => port))).sort((one, other) => one - other)

/** Port after the highest of these; ports of bridges do not count, because they are temporary. */
const findPortAfter = (used: ReadonlyArray<number>): Effect.Effect<number, NoPortLeft, Settings> =>
  Effect.gen(function*() {
    const bridges = yield* Effect.orElseSucceed(bridgePorts, () => ({ first: 0, last: 0 }))
    const highest = used.findLast((port) => !isBridgePort(bridges, port)) ?? base
    const next = isBridgePort(bridges, highest + 1) ? bridges.last + 1 : highest + 1
    return next > highestPort ? yield* new NoPortLeft({ highest }) : next
  })

/**
 * Ports used by applications and in the proxy file, and the one after the highest. Unreadable sources are left out. A
 * port that the platform hides fails with `HostPortHidden`, because it could be assigned twice.
 */
export const nextPort: Effect.Effect<NextPort, HostPortHidden | NoPortLeft, Platform | Settings | Ssh> = Effect.gen(
  function*() {
    const { unread, uses } = mergePortUses(yield* Effect.all([variableUses, routeUses], { concurrency: "unbounded" }))
    yield* Effect.forEach(unread, logScrubbedWarning, { discard: true })
    const used = listPortNumbers(uses)
    return { nextPort: yield* findPortAfter(used), usedPorts: used }
  }
).pipe(withAnswerBudget, Effect.withSpan("nextPort"))

const usesOfProject = (root: string) => (name: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const env = yield* readProjectText(path.join(root, name), ".env")
    const port = Option.match(env, {
      onNone: () => "",
      onSome: (text) => resolveEnvValues(parseEnv(text)).values.get(hostPortKey) ?? ""
    })
    const uses = parseHostPorts(port).map((number): UsedPort => ({ port: number, kind: "project", what: name }))
    return { uses, unread: [] } satisfies PortUses
  }).pipe(Effect.catchAll(reportUnreadUses(`The port of the project ${name} is`)))

/** Ports in the `.env` files at the top level of the projects, deployed or not. */
const projectUses = Effect.gen(function*() {
  const files = yield* LocalFiles
  const root = yield* (yield* Settings).get("projects.root")
  if (Option.isNone(yield* files.find(root))) return { uses: [], unread: [] } satisfies PortUses
  const directories = (yield* files.list(root)).filter(({ kind }) => kind === "directory" || kind === "link")
  const found = yield* Effect.forEach(directories, ({ name }) => usesOfProject(root)(name), { concurrency: 16 })
  return mergePortUses(found)
}).pipe(Effect.catchAll(reportUnreadUses("The projects' ports are")))

/** Ports that programs on the proxy's server listen on, and that Docker publishes there. */
const serverUses = Effect.gen(function*() {
  const { server } = yield* proxyLocation
  const { stdout } = yield* execute(server, portsCommand(server.useSudo), { timeout: "30 seconds" })
  const { ports, unread } = parsePorts(stdout)
  return { uses: ports, unread: unread.map((what) => `The ports in use on "${server.name}" are unknown: ${what}`) }
}).pipe(Effect.catchAll(reportUnreadUses("The ports in use on the proxy's server are")))

/** Deadline of one source: a hanging server must not hide the ports of other sources. */
const timeLimit = "8 seconds"

const inTime = Effect.timeoutFail({
  duration: timeLimit,
  onTimeout: () => ({ _tag: "Late" as const, message: `no answer within ${timeLimit}` })
})

/** Every used port with its users, without duplicates. */
const evidenceOf = (ports: ReadonlyArray<number>, uses: ReadonlyArray<PortUse & { readonly port: number }>) => {
  // Indexed by port, because a server may report every port there is.
  const usesOf = new Map(ports.map((port) => [port, new Map<string, PortUse>()]))
  for (const { kind, port, what } of uses) usesOf.get(port)?.set(`${kind} ${what}`, { kind, what })
  return Arr.fromIterable(usesOf).map(([port, usedBy]) => ({ port, usedBy: [...usedBy.values()] }))
}

/**
 * Ports in use with their users, and the next free one. In addition to `nextPort`, counts sockets and containers of the
 * proxy's server and the `.env` files of projects. The next port still follows those of applications and routes: a
 * listener on a high port does not move it. Unreadable sources are reported.
 */
export const portEvidence: Effect.Effect<
  NextPort,
  HostPortHidden | NoPortLeft,
  LocalFiles | Path.Path | Platform | Settings | Ssh
> = Effect.gen(function*() {
  const [ofApplications, ofRoutes, ofServer, ofProjects] = yield* Effect.all([
    variableUses.pipe(inTime, Effect.catchTag("Late", reportUnreadUses("The applications' ports are"))),
    routeUses.pipe(inTime, Effect.catchTag("Late", reportUnreadUses("The proxy's ports are"))),
    serverUses.pipe(inTime, Effect.catchTag("Late", reportUnreadUses("The ports in use on the proxy's server are"))),
    projectUses.pipe(inTime, Effect.catchTag("Late", reportUnreadUses("The projects' ports are")))
  ], { concurrency: "unbounded" })
  const { unread, uses } = mergePortUses([ofApplications, ofRoutes, ofServer, ofProjects])
  const used = listPortNumbers(uses)
  const isUsed = new Set(used)
  const first = yield* findPortAfter(listPortNumbers(mergePortUses([ofApplications, ofRoutes]).uses))
  const free = Arr.findFirst(Arr.range(first, highestPort), (port) => !isUsed.has(port))
  const warnings = yield* Effect.forEach(unread, (text) => scrubSecrets(text))
  return {
    nextPort: yield* Effect.mapError(free, () => new NoPortLeft({ highest: highestPort })),
    usedPorts: used,
    evidence: evidenceOf(used, uses),
    ...(warnings.length === 0 ? {} : { warnings })
  }
}).pipe(withAnswerBudget, Effect.withSpan("portEvidence"))
