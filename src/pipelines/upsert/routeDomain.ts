import { Effect, Option, Predicate } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import type { PlatformFailure } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { DomainWithoutPort, TargetUnusable } from "../../schema/Upsert.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { AppPlan } from "../appPlan.ts"
import { ensureRoute } from "../routes/edit.ts"
import { type EditFailure, editProxyFile, type EditServices } from "../routes/editProxyFile.ts"
import { RouteEdit } from "../routes/RouteEdit.ts"
import type { Target } from "./target.ts"

/** What became of the domain: in words, and as a change when the proxy file was changed. */
export interface Routed {
  readonly detail: string
  readonly change: Option.Option<Change>
}

/** The name of an application's route: its own in lower case, letters and digits only. */
export const routeNameOf = (name: string): string => name.replace(/[^A-Za-z0-9]/g, "").toLowerCase()

const warned = (detail: string, warnings: ReadonlyArray<string>) =>
  warnings.length === 0 ? detail : `${detail}; warning: ${warnings.join("; ")}`

/** The port that the application had before: a route that leads there is its own. */
const formerPorts = (portChange: Option.Option<Change>): ReadonlyArray<number> =>
  Option.toArray(
    Option.filter(
      Option.map(portChange, ({ old }) => Number(Predicate.isString(old) ? old : "")),
      (port) => Number.isInteger(port) && port > 0
    )
  )

const routeInProxy = (plan: AppPlan, domain: string, { ip }: Target, portChange: Option.Option<Change>) =>
  Effect.gen(function*() {
    const routeName = routeNameOf(plan.name)
    if (routeName === "") {
      const reason = `A route is named by letters and digits, and ${JSON.stringify(plan.name)} has none of them`
      return yield* new TargetUnusable({ reason })
    }
    const port = yield* Effect.mapError(plan.port, () => new DomainWithoutPort({ appName: plan.name, domain }))
    const targetIp = yield* Effect.mapError(
      ip,
      () => new TargetUnusable({ reason: `There is no address that ${domain} could be routed to` })
    )
    const route = { routeName, domain, port, targetIp }
    const edit = yield* editProxyFile((text) => ensureRoute(text, route, formerPorts(portChange)))
    const way = `${domain} to http://${targetIp}:${port}`
    return RouteEdit.$match(edit, {
      Unchanged: ({ warnings }): Routed => ({
        detail: warned(`${domain} is in the proxy file already`, warnings),
        change: Option.none()
      }),
      Edited: ({ change, warnings }) => ({
        detail: warned(`route ${routeName} ${change}: ${way}`, warnings),
        change: Option.some({ field: "traefik_route", label: "Proxy route", old: null, new: way })
      })
    })
  })

/**
 * Upsert step 7: makes the domain lead to the application. The platform itself serves what runs on its own host; for
 * any other server the proxy file gets a route to its address and port.
 */
export const routeDomain = Effect.fn("routeDomain")(function*(
  plan: AppPlan,
  domain: string,
  target: Target,
  uuid: string,
  portChange: Option.Option<Change>
): Effect.fn.Return<
  Routed,
  PlatformFailure | SettingsError | DomainWithoutPort | TargetUnusable | EditFailure,
  Platform | EditServices
> {
  const platform = yield* Platform
  if (target.local) {
    const url = `https://${domain}`
    yield* platform.setDomain({ uuid, buildPack: plan.buildPack }, url, Option.getOrUndefined(plan.service))
    return { detail: `the platform serves ${url}`, change: Option.none() }
  }
  // The platform's own address would compete with the route; one that cannot be taken away does no harm.
  if (plan.buildPack !== "composestack") yield* Effect.ignore(platform.clearDomains(uuid))
  return yield* routeInProxy(plan, domain, target, portChange)
})
