import { Either } from "effect"
import type { ExistingContainer } from "../../remote/deploy/preflightCommand.ts"
import { checkMoves, findRoutesToPort } from "../routes/balancers.ts"
import type { Refusal } from "../routes/Refusal.ts"
import { type ComposeTexts, findPublishedPort, hasSharedDifferences } from "./publishedPort.ts"
import type { Rollout } from "./Rollout.ts"

/** Proxy file, with the addresses that refer to a server in it. */
export interface ProxyView {
  readonly file: string
  readonly text: string
  readonly hosts: ReadonlyArray<string>
}

/** Inputs of the decision about a service's rollout. */
export interface RolloutFacts {
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
export const decideBridgedRollout = (
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
