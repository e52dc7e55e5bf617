import { Either, Option } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import { DomainWithoutPort, TargetUnusable } from "../../../schema/applications/Upsert.ts"
import type { Route } from "../../../schema/routes/Route.ts"
import { quoteInput } from "../../../schema/words/quoted.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import type { RouteOwner } from "../../routes/editRoutes.ts"
import { toRouteName } from "../inputs/routeName.ts"
import type { PlatformTarget } from "../inputs/target.ts"
import { findLastDomain, listFormerTargets } from "./routeHistory.ts"

/** Domain to route to an application. */
export interface RequestedDomain {
  readonly plan: AppPlan
  readonly domain: string
  readonly target: PlatformTarget
  /** Other applications whose routes have the same name. */
  readonly namesakes: ReadonlyArray<string>
}

/** Route from a domain to an application, with the evidence that identifies an existing one as its own. */
export interface ProxyRoute {
  readonly route: Route
  readonly owner: RouteOwner
}

/**
 * Decides the route of a domain that the proxy serves.
 * @param changes recorded changes of the application, oldest first
 */
export const decideProxyRoute = (
  { domain, namesakes, plan, target }: RequestedDomain,
  changes: ReadonlyArray<Change>
): Either.Either<ProxyRoute, DomainWithoutPort | TargetUnusable> =>
  Either.gen(function*() {
    const routeName = toRouteName(plan.name)
    if (routeName === "") {
      const reason = `A route is named by letters and digits, and ${quoteInput(plan.name)} has none of them`
      return yield* Either.left(new TargetUnusable({ reason }))
    }
    const port = yield* Either.fromOption(plan.port, () => new DomainWithoutPort({ appName: plan.name, domain }))
    const targetIp = yield* Either.fromOption(
      target.ip,
      () => new TargetUnusable({ reason: `There is no address that ${domain} could be routed to` })
    )
    return {
      route: { routeName, domain, port, targetIp },
      owner: { formerTargets: listFormerTargets(changes, targetIp), lastDomain: findLastDomain(changes), namesakes }
    }
  })

/** True if the platform's own addresses have to be cleared, because they would compete with the route. */
export const shouldClearDomains = (plan: AppPlan, target: PlatformTarget): boolean =>
  Option.isSome(plan.domain) && !target.local && plan.buildPack !== "composestack"
