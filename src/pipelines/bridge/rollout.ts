import { Data, Effect, Either, Option, Predicate } from "effect"
import { type ExistingContainer, parseComposeContent, parsePortRange, type ServerFacts } from "../../remote/deploy.ts"
import type { BridgedRoute, DeployResult, PlannedService } from "../../schema/deploys.ts"
import type { ServerAccess } from "../../schema/ssh.ts"
import { bridgePorts, scrubSecrets, Settings, type SettingsError } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { interpolate, parseEnv, resolveEnvValues } from "../projects/interpolate.ts"
import { checkMoves, findRoutesToPort, hasServer } from "../routes/balancers.ts"
import { type ProxyLocation, proxyLocation, readProxyText } from "../routes/proxyFile.ts"
import type { Refusal } from "../routes/proxyText.ts"
import type { PlatformAddresses } from "./readPlatformAddresses.ts"

/** A bridge is not usable, so the deploy or rollback ends before anything is stopped. */
export class BridgeRefused extends Data.TaggedError("BridgeRefused")<{
  readonly reason: string
  /** Logs of the container. */
  readonly details: string
}> {
  override get message() {
    return this.reason
  }
}

/**
 * Result of a deploy or rollback whose bridge is not usable.
 * @param begun beginning of its message: `… was not deployed`
 */
export const toBridgeRefusedResult = (begun: string) => ({ details, reason }: BridgeRefused) =>
  Effect.map(scrubSecrets(reason), (words): DeployResult => ({
    success: false,
    healthy: false,
    status: "unhealthy",
    uploadedFiles: [],
    message: `${begun}, and what ran before was not stopped: ${words.replace(/\.$/, "")}.${details}`
  }))

/** The only port of the server that a service publishes. */
interface PublishedPort {
  /** Bind address as written; empty for all addresses. */
  readonly address: string
  readonly port: number
  /** Port of the container. */
  readonly target: number
}

/** A compose file and the `.env` next to it. */
interface ComposeTexts {
  readonly compose: string
  readonly env: string
}

const word = (value: unknown): string => Predicate.isString(value) || Predicate.isNumber(value) ? String(value) : ""

const fieldsOf = (written: unknown, filledIn: (text: string) => string) => {
  if (Predicate.isRecord(written)) {
    const field = (name: string) => filledIn(word(written[name])).trim()
    return [field("host_ip"), field("published"), field("target"), field("protocol")]
  }
  const [, address = "", published = "", target = "", protocol = ""] =
    /^(?:(\[[^\]]*\]|[^:[\]]*):)?([\d-]*):([\d-]+)(?:\/(\w+))?$/.exec(filledIn(word(written)).trim()) ?? []
  return [address, published, target, protocol]
}

const single = (ports: string | undefined): number | undefined => {
  const [range] = parsePortRange(ports ?? "", "", "tcp")
  return range !== undefined && range.first === range.last ? range.first : undefined
}

const isOne = (value: unknown, filledIn: (text: string) => string) =>
  Predicate.isNullable(value) || Number(filledIn(word(value))) === 1

const fixedAddress = ["ipv4_address", "ipv6_address", "mac_address"]

const hasFixedAddress = (service: Record<string, unknown>) =>
  !Predicate.isNullable(service["mac_address"]) ||
  (Predicate.isRecord(service["networks"]) &&
    Object.values(service["networks"]).some((network) =>
      Predicate.isRecord(network) && fixedAddress.some((key) => !Predicate.isNullable(network[key]))
    ))

/** Port that a bridge of a service has to replace, or the reason why the service cannot have a second container. */
const findPublishedPort = ({ compose, env }: ComposeTexts, name: string): Either.Either<PublishedPort, string> =>
  Either.gen(function*() {
    const content = parseComposeContent(compose)
    const services = Predicate.isRecord(content) ? content["services"] : undefined
    const service = Predicate.isRecord(services) ? services[name] : undefined
    if (!Predicate.isRecord(service)) return yield* Either.left("the compose file does not have it")
    const { values } = resolveEnvValues(parseEnv(env))
    const filledIn = (text: string) => interpolate(text, values).text
    const deploy = Predicate.isRecord(service["deploy"]) ? service["deploy"] : {}
    if (!isOne(service["scale"], filledIn) || !isOne(deploy["replicas"], filledIn)) {
      return yield* Either.left("it has several replicas")
    }
    if (!Predicate.isNullable(service["extends"])) return yield* Either.left("it extends another service")
    if (!Predicate.isNullable(service["network_mode"])) return yield* Either.left("it has a network_mode")
    if (hasFixedAddress(service)) return yield* Either.left("it has a fixed address, which only one container can have")
    const ports = Array.isArray(service["ports"]) ? service["ports"] : []
    if (ports.length !== 1) {
      return yield* Either.left(ports.length === 0 ? "it publishes no port" : "it publishes several ports")
    }
    const [address = "", published, targeted, protocol = ""] = fieldsOf(ports[0], filledIn)
    const [port, target] = [single(published), single(targeted)]
    if (port === undefined || target === undefined || (protocol !== "" && protocol !== "tcp")) {
      return yield* Either.left("it does not publish one fixed TCP port")
    }
    return { address, port, target }
  })

const shared = ["name", "networks", "volumes", "include"]

/** True if parts that all services share differ, so that compose touches running containers. */
const hasSharedDifferences = (here: ComposeTexts, there: ComposeTexts): boolean => {
  const partsOf = ({ compose, env }: ComposeTexts) => {
    const content = parseComposeContent(compose)
    const parts = Predicate.isRecord(content) ? shared.map((key) => content[key] ?? null) : []
    return interpolate(JSON.stringify(parts), resolveEnvValues(parseEnv(env)).values).text
  }
  return partsOf(here) !== partsOf(there)
}

/** Way in which a service listed in `bridged` gets its new version. */
export interface Rollout {
  readonly service: string
  /** Null if the service is not recreated. */
  readonly rollout: "bridged" | "recreate" | null
  /** Reason why a service is recreated without a bridge; empty if there is none. */
  readonly reason: string
  readonly routes: ReadonlyArray<BridgedRoute>
  /**
   * Port that the bridge replaces, and the addresses by which the proxy file refers to it; set if the service is
   * bridged.
   */
  readonly bridged?: PublishedPort & { readonly hosts: ReadonlyArray<string> }
}

/** Adds the rollout to a planned service, if it is listed in `bridged`. */
export const withRollout = (service: PlannedService, rollouts: ReadonlyArray<Rollout>) =>
  Effect.gen(function*() {
    const found = rollouts.find((each) => each.service === service.name)
    if (found === undefined) return service
    const { reason, rollout, routes } = found
    return { ...service, rollout, ...reason === "" ? {} : { rolloutReason: yield* scrubSecrets(reason) }, routes }
  })

/** Sentence about the services that were, or were not, bridged, with a leading space. */
export const describeRollouts = (rollouts: ReadonlyArray<Rollout>): string =>
  rollouts.map(({ reason, rollout, service }) =>
    rollout === "bridged"
      ? ` A bridge took the requests of ${service} meanwhile.`
      : rollout === "recreate"
      ? ` ${service} was recreated without a bridge: ${reason}.`
      : ""
  ).join("")

/** Proxy file, with the addresses that refer to a server in it. */
interface ProxyView {
  readonly file: string
  readonly text: string
  readonly hosts: ReadonlyArray<string>
}

/** Inputs of the decision about a service's rollout. */
interface RolloutFacts {
  /** True if the service is about to be recreated. */
  readonly isRecreated: boolean
  readonly here: ComposeTexts
  readonly there: ComposeTexts
  readonly containers: ReadonlyArray<ExistingContainer>
  /** Proxy file, or the reason why it cannot be used. */
  readonly proxy: Either.Either<ProxyView, string>
  /** Reason why an address of the server may be missing in `proxy`; empty if none is. */
  readonly unknownAddress: string
  /** Unused port, for a trial of the edits to the proxy file. */
  readonly freePort: number
  /** Reason that prevents bridging any service of the server; empty if there is none. */
  readonly obstacle: string
}

const words = (refusal: Refusal) =>
  refusal._tag === "Bridged"
    ? `the route ${refusal.routeName} leads to a bridge`
    : refusal._tag === "Taken" || refusal._tag === "Invalid" || refusal.line === null
    ? refusal.reason
    : `line ${refusal.line}: ${refusal.reason}`

/** Decides how a service listed in `bridged` gets its new version. */
const decideBridgedRollout = (
  service: string,
  { containers, freePort, here, isRecreated, obstacle, proxy, there, unknownAddress }: RolloutFacts
): Rollout => {
  if (!isRecreated) return { service, rollout: null, reason: "", routes: [] }
  const judged = Either.gen(function*() {
    const own = containers.filter((each) => each.service === service)
    if (obstacle !== "") return yield* Either.left(obstacle)
    if (own.length !== 1 || own[0]?.isRunning !== true) {
      return yield* Either.left(own.length > 1 ? "it has several containers" : "its container is not running")
    }
    const published = yield* findPublishedPort(here, service)
    const before = yield* findPublishedPort(there, service)
    if (before.port !== published.port) return yield* Either.left("its published port changes")
    if (hasSharedDifferences(here, there)) {
      return yield* Either.left("the networks, volumes or the name of the stack change")
    }
    const { file, hosts, text } = yield* proxy
    const unusable = (refusal: Refusal) => `${file}: ${words(refusal)}`
    const routes = yield* Either.mapLeft(findRoutesToPort(text, hosts, published.port), unusable)
    if (routes.length === 0) {
      const why = unknownAddress === "" ? "" : `, and ${unknownAddress}`
      return yield* Either.left(`no route in ${file} leads to port ${published.port} of ${hosts.join(" or ")}${why}`)
    }
    const addresses = [...new Set(routes.map((route) => route.address))]
    yield* Either.mapLeft(checkMoves(text, [{ hosts: addresses, from: published.port, to: freePort }]), unusable)
    return { published, routes: routes.map(({ host, routeName }) => ({ host, routeName, file })), addresses }
  })
  return Either.match(judged, {
    onLeft: (reason): Rollout => ({ service, rollout: "recreate", reason, routes: [] }),
    onRight: ({ addresses, published, routes }): Rollout => ({
      service,
      rollout: "bridged",
      reason: "",
      routes,
      bridged: { ...published, hosts: addresses }
    })
  })
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/
const inUrl = (host: string) => (host.includes(":") ? `[${host}]` : host).toLowerCase()

type StoredServer = Pick<ServerAccess, "host" | "id" | "port">

/** True if both are one stored server. */
export const isSame = (one: StoredServer, other: StoredServer) =>
  one.id === other.id || (one.host === other.host && one.port === other.port)

/**
 * Addresses that refer to a server in the proxy file: its host, its interface addresses, and `proxy.targetIp` unless
 * that may mean another stored server. A loopback address means the proxy's own server.
 * @param own addresses of its interfaces
 */
export const readAddresses = (server: StoredServer, home: ProxyLocation, own: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const targetIp = yield* settings.find("proxy.targetIp")
    const others = (yield* settings.servers).filter((other) => !isSame(other, server))
    const isTarget = others.length === 0 || Option.contains(targetIp, server.host) ||
      (isSame(home.server, server) && !others.some(({ host }) => Option.contains(targetIp, host)))
    const free = own.filter((address) => !others.some(({ host }) => host === address))
    const hosts = [server.host, ...isTarget ? Option.toArray(targetIp) : [], ...free].map(inUrl)
    return [...new Set(hosts)].filter((host) => !loopback.test(host) || isSame(home.server, server))
  })

/**
 * Reads the current proxy file, or the reason why it cannot be used.
 * @param own addresses of the server's interfaces
 */
const readProxyView = (
  server: ServerAccess,
  own: ReadonlyArray<string>
): Effect.Effect<Either.Either<ProxyView, string>, never, Settings | Ssh> =>
  Effect.gen(function*() {
    const configured = yield* (yield* Settings).find("proxy.configFile")
    if (Option.isNone(configured)) return Either.left("the setting proxy.configFile is missing")
    const home = yield* proxyLocation
    const hosts = yield* readAddresses(server, home, own)
    return Either.right({ file: home.file, hosts, text: yield* readProxyText(home) })
  }).pipe(Effect.catchAll(({ message }) => Effect.succeed(Either.left(message.replace(/\.$/, "")))))

/** Reason why no service of a server can be bridged now; empty if there is none. */
const leftoverBridge = ({ hasBridge }: Pick<ServerFacts, "hasBridge">): string =>
  hasBridge === true ? "a bridge of an earlier deploy could not be led back" : ""

/** Version of a stack to run, with the changes of its services and its server. */
interface RolloutVersion {
  readonly here: ComposeTexts
  readonly services: ReadonlyArray<PlannedService>
  readonly facts: ServerFacts
}

/** Services that a route may lead to if its unknown address belongs to the server. */
const mayBeRouted = (
  services: ReadonlyArray<string>,
  here: ComposeTexts,
  proxy: Either.Either<ProxyView, string>
): boolean =>
  Either.isRight(proxy) &&
  services.some((service) =>
    Either.match(findPublishedPort(here, service), {
      onLeft: () => false,
      onRight: ({ port }) =>
        !hasServer(proxy.right.text, proxy.right.hosts, port) && hasServer(proxy.right.text, undefined, port)
    })
  )

/**
 * Decides how each service listed in `bridged` gets its new version. Changes nothing.
 * @param platform only queried if a route leads to a service's port at an unknown address
 */
export const decideBridgedRollouts = <R>(
  server: ServerAccess,
  bridged: ReadonlyArray<string>,
  { facts, here, services }: RolloutVersion,
  platform: Effect.Effect<PlatformAddresses, never, R>
): Effect.Effect<ReadonlyArray<Rollout>, SettingsError, R | Settings | Ssh> =>
  Effect.gen(function*() {
    if (bridged.length === 0) return []
    const isRecreated = (service: string) =>
      services.some(({ change, name }) => name === service && change === "recreate")
    const own = facts.there.addresses ?? []
    const seen = yield* readProxyView(server, own)
    const obstacle = leftoverBridge(facts)
    const isAsked = obstacle === "" && mayBeRouted(bridged.filter(isRecreated), here, seen)
    const { addresses, problem } = isAsked ? yield* platform : { addresses: [], problem: "" }
    const proxy = addresses.length === 0 ? seen : yield* readProxyView(server, [...own, ...addresses])
    const { first } = yield* bridgePorts
    return bridged.map((service) =>
      decideBridgedRollout(service, {
        isRecreated: isRecreated(service),
        here,
        there: facts.there,
        containers: facts.there.containers,
        proxy,
        unknownAddress: problem,
        freePort: first,
        obstacle
      })
    )
  })
