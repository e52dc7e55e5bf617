import { Either, Option } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import { quoted } from "../../schema/quoted.ts"
import type { Route } from "../../schema/Route.ts"
import { DomainWithoutPort, TargetUnusable } from "../../schema/Upsert.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import type { RouteOwner } from "../routes/edit.ts"
import { formerTargets, lastDomain, routeNameOf } from "./routeHistory.ts"
import type { Target } from "./target.ts"

/** What the domain of an application is brought to. */
export interface WantedDomain {
  readonly plan: AppPlan
  readonly domain: string
  readonly target: Target
  /** Other applications whose routes go by the same name. */
  readonly namesakes: ReadonlyArray<string>
}

/** The route that makes a domain lead to an application, and what tells whether one of its name is the application's. */
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

/** Whether the platform's own addresses are taken from an application: they would compete with its route. */
export const clearsDomains = (plan: AppPlan, target: Target): boolean =>
  Option.isSome(plan.domain) && !target.local && plan.buildPack !== "composestack"
