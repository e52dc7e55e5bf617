import { Effect, Option, Ref } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import { editProxyFile } from "../../routes/editProxyFile.ts"
import { RouteEdit } from "../../routes/RouteEdit.ts"
import { describeEarlierChange, type Intent } from "../steps/intent.ts"
import type { MatchesPlan } from "../steps/matchesPlan.ts"
import {
  buildRouteEdit,
  decideWantedRoute,
  describeRouteEdit,
  type DomainHistory,
  type RouteDecision
} from "./decideRoute.ts"
import { shouldClearDomains } from "./proxyRoute.ts"
import { buildRouteChange, describeRouteTarget } from "./routeHistory.ts"

/** Outcome of the step `route`, with the change if the proxy file was written. */
export interface RouteOutcome {
  readonly detail: string
  readonly change: Option.Option<Change>
}

const warned = (detail: string, warnings: ReadonlyArray<string>) =>
  warnings.length === 0 ? detail : `${detail}; warning: ${warnings.join("; ")}`

/** Domain to route, with the binding of the step. */
export interface DomainRoute extends DomainHistory {
  readonly uuid: string
  /** Earlier decision; without one, the changelog and the proxy file are read now. */
  readonly planned: Option.Option<RouteDecision>
  readonly matchesPlan: MatchesPlan
  readonly intent: Intent
}

const routeInProxy = (wanted: DomainRoute) =>
  Effect.gen(function*() {
    const { matchesPlan, domain, intent, planned } = wanted
    const proxyRoute = Option.isSome(planned) ? planned.value : yield* decideWantedRoute(wanted)
    const { route } = proxyRoute
    const first = yield* Ref.make(Option.none<Option.Option<Change>>())
    const edit = yield* editProxyFile(yield* buildRouteEdit(proxyRoute), {
      before: Option.map(planned, ({ before }) => before),
      matchesPlan: (now) =>
        Effect.zipRight(
          matchesPlan(describeRouteEdit(now, proxyRoute)),
          Effect.whenEffect(
            Effect.flatMap(
              intent(RouteEdit.$is("Edited")(now) ? Option.some(buildRouteChange(route)) : Option.none()),
              (change) => Ref.set(first, Option.some(change))
            ),
            Effect.map(Ref.get(first), Option.isNone)
          )
        )
    })
    const made = Option.flatten(yield* Ref.get(first))
    return RouteEdit.$match(edit, {
      Unchanged: ({ warnings }): RouteOutcome => ({
        detail: warned(
          Option.match(made, { onNone: () => `${domain} is in the proxy file already`, onSome: describeEarlierChange }),
          warnings
        ),
        change: made
      }),
      Edited: ({ change, warnings }) => ({
        detail: warned(`route ${route.routeName} ${change}: ${describeRouteTarget(route)}`, warnings),
        change: Option.some(buildRouteChange(route))
      })
    })
  })

/**
 * Upsert step 7: routes the domain to the application. The platform itself serves applications on its own host; for any
 * other server the proxy file gets a route to its address and port.
 */
export const applyRoute = Effect.fn("applyRoute")(function*(
  route: DomainRoute
) {
  const platform = yield* Platform
  const { domain, plan, target, uuid } = route
  if (target.local) {
    const url = `https://${domain}`
    yield* platform.setDomain({ uuid, buildPack: plan.buildPack }, url, Option.getOrUndefined(plan.service))
    return { detail: `the platform serves ${url}`, change: Option.none() }
  }
  // The platform's own address would compete with the route. Ignored if it fails, because that does no harm.
  if (shouldClearDomains(plan, target)) yield* Effect.ignore(platform.clearDomains(uuid))
  return yield* routeInProxy(route)
})
