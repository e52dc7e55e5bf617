import { Either, Option } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import { DomainWithoutPort, TargetUnusable } from "../../../schema/applications/Upsert.ts"
import type { Route } from "../../../schema/routes/Route.ts"
import { quoted } from "../../../schema/words/quoted.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import type { RouteOwner } from "../../routes/editRoutes.ts"
import { routeNameOf } from "../inputs/routeName.ts"
import type { Target } from "../inputs/target.ts"
import { formerTargets, lastDomain } from "./routeHistory.ts"

/** Domain to route to an application. */
export interface WantedDomain {
  readonly plan: AppPlan
  readonly domain: string
  readonly target: Target
  /** Other applications whose routes have the same name. */
  readonly namesakes: ReadonlyArray<string>
}

/** Route from a domain to an application, with the evidence that an existing one is the application's own. */
export interface ProxyRoute {
  readonly route: Route
  readonly owner: RouteOwner
}

/**
 * Decides the route of a domain that the proxy serves.
 * @param changes the changes made to the application so far, oldest first
 */
export const proxyRoute = (
  { domain, namesakes, plan, target }: WantedDomain,
  changes: ReadonlyArray<Change>
): Either.Either<ProxyRoute, DomainWithoutPort | TargetUnusable> =>
  Either.gen(function*() {
    const routeName = routeNameOf(plan.name)
    if (routeName === "") {
      const reason = `A route is named by letters and digits, and ${quoted(plan.name)} has none of them`
      return yield* Either.left(new TargetUnusable({ reason }))
    }
    const port = yield* Either.fromOption(plan.port, () => new DomainWithoutPort({ appName: plan.name, domain }))
    const targetIp = yield* Either.fromOption(
      target.ip,
      () => new TargetUnusable({ reason: `There is no address that ${domain} could be routed to` })
    )
    return {
      route: { routeName, domain, port, targetIp },
      owner: { formerTargets: formerTargets(changes, targetIp), lastDomain: lastDomain(changes), namesakes }
    }
  })

/** True if the platform's own addresses are cleared: they would compete with the route. */
export const clearsDomains = (plan: AppPlan, target: Target): boolean =>
  Option.isSome(plan.domain) && !target.local && plan.buildPack !== "composestack"
