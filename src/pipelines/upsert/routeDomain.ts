import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import type { PlatformFailure } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { DomainWithoutPort, TargetUnusable } from "../../schema/Upsert.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { recordedChanges } from "../applications/changelog.ts"
import { ensureRoute } from "../routes/edit.ts"
import { type EditFailure, editProxyFile, type EditServices } from "../routes/editProxyFile.ts"
import { RouteEdit } from "../routes/RouteEdit.ts"
import { formerTargets, routeChange, routeNameOf, wayOf } from "./routeHistory.ts"
import type { Target } from "./target.ts"

/** What became of the domain: in words, and as a change when the proxy file was changed. */
export interface Routed {
  readonly detail: string
  readonly change: Option.Option<Change>
}

const warned = (detail: string, warnings: ReadonlyArray<string>) =>
  warnings.length === 0 ? detail : `${detail}; warning: ${warnings.join("; ")}`

/** What the domain of an application is brought to. */
export interface DomainRoute {
  readonly plan: AppPlan
  readonly domain: string
  readonly target: Target
  readonly uuid: string
  /** What this upsert made of the port. */
  readonly portChange: Option.Option<Change>
  /** Other applications whose routes go by the same name. */
  readonly namesakes: ReadonlyArray<string>
  /** Where the changelog is. */
  readonly projectPath: string
}

const routeInProxy = ({ domain, namesakes, plan, portChange, projectPath, target }: DomainRoute) =>
  Effect.gen(function*() {
    const routeName = routeNameOf(plan.name)
    if (routeName === "") {
      const reason = `A route is named by letters and digits, and ${JSON.stringify(plan.name)} has none of them`
      return yield* new TargetUnusable({ reason })
    }
    const port = yield* Effect.mapError(plan.port, () => new DomainWithoutPort({ appName: plan.name, domain }))
    const targetIp = yield* Effect.mapError(
      target.ip,
      () => new TargetUnusable({ reason: `There is no address that ${domain} could be routed to` })
    )
    const route = { routeName, domain, port, targetIp }
    const changes = [...yield* recordedChanges(projectPath, plan.name), ...Option.toArray(portChange)]
    const owner = { formerTargets: formerTargets(changes, targetIp), namesakes }
    const edit = yield* editProxyFile((text) => ensureRoute(text, route, owner))
    return RouteEdit.$match(edit, {
      Unchanged: ({ warnings }): Routed => ({
        detail: warned(`${domain} is in the proxy file already`, warnings),
        change: Option.none()
      }),
      Edited: ({ change, warnings }) => ({
        detail: warned(`route ${routeName} ${change}: ${wayOf(route)}`, warnings),
        change: Option.some(routeChange(route))
      })
    })
  })

/**
 * Upsert step 7: makes the domain lead to the application. The platform itself serves what runs on its own host; for
 * any other server the proxy file gets a route to its address and port.
 */
export const routeDomain = Effect.fn("routeDomain")(function*(
  route: DomainRoute
): Effect.fn.Return<
  Routed,
  PlatformFailure | SettingsError | DomainWithoutPort | TargetUnusable | EditFailure,
  LocalFiles | Path.Path | Platform | EditServices
> {
  const platform = yield* Platform
  const { domain, plan, target, uuid } = route
  if (target.local) {
    const url = `https://${domain}`
    yield* platform.setDomain({ uuid, buildPack: plan.buildPack }, url, Option.getOrUndefined(plan.service))
    return { detail: `the platform serves ${url}`, change: Option.none() }
  }
  // The platform's own address would compete with the route; one that cannot be taken away does no harm.
  if (plan.buildPack !== "composestack") yield* Effect.ignore(platform.clearDomains(uuid))
  return yield* routeInProxy(route)
})
