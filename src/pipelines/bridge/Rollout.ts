import { Effect } from "effect"
import type { BridgedRoute, PlannedService } from "../../schema/deploy/ContainerPlan.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { PublishedPort } from "./publishedPort.ts"

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
