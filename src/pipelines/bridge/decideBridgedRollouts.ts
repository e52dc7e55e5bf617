import { Effect, Either } from "effect"
import type { ServerFacts } from "../../remote/deploy/preflightCommand.ts"
import type { PlannedService } from "../../schema/deploy/ContainerPlan.ts"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { bridgePorts } from "../../services/settings/bridgePorts.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { hasServer } from "../routes/balancers.ts"
import { decideBridgedRollout, type ProxyView } from "./decideBridgedRollout.ts"
import { type ComposeTexts, findPublishedPort } from "./publishedPort.ts"
import type { PlatformAddresses } from "./readPlatformAddresses.ts"
import { readProxyView } from "./readProxyView.ts"
import type { Rollout } from "./Rollout.ts"

/** Reason why no service of a server can be bridged now; empty if there is none. */
const leftoverBridge = ({ hasBridge }: Pick<ServerFacts, "hasBridge">): string =>
  hasBridge === true ? "a bridge of an earlier deploy could not be led back" : ""

/** Version of a stack to run, with the changes of its services and its server. */
export interface RolloutVersion {
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
