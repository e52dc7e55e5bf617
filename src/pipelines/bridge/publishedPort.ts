import { Either, Predicate } from "effect"
import { parsePortRange } from "../../remote/deploy/portRange.ts"
import { parseEnv, resolveEnvValues } from "../projects/compose/envText.ts"
import { interpolate } from "../projects/compose/interpolate.ts"
import { parseComposeContent } from "../projects/compose/serviceDefinitions.ts"

/** The only port of the server that a service publishes. */
export interface PublishedPort {
  /** Bind address as written; empty for all addresses. */
  readonly address: string
  readonly port: number
  /** Port of the container. */
  readonly target: number
}

/** A compose file and the `.env` next to it. */
export interface ComposeTexts {
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
export const findPublishedPort = ({ compose, env }: ComposeTexts, name: string): Either.Either<PublishedPort, string> =>
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
export const hasSharedDifferences = (here: ComposeTexts, there: ComposeTexts): boolean => {
  const partsOf = ({ compose, env }: ComposeTexts) => {
    const content = parseComposeContent(compose)
    const parts = Predicate.isRecord(content) ? shared.map((key) => content[key] ?? null) : []
    return interpolate(JSON.stringify(parts), resolveEnvValues(parseEnv(env)).values).text
  }
  return partsOf(here) !== partsOf(there)
}
