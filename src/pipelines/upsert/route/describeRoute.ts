import type { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import { declaredFields } from "../../../schema/applications/declaredFields.ts"
import type { PlatformRecord } from "../../../schema/applications/PlatformApp.ts"
import type { PlanChange, StayingDifference } from "../../../schema/applications/PlatformPlan.ts"
import type { LocalFiles } from "../../../services/local/LocalFiles.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { Ssh } from "../../../services/ssh/Ssh.ts"
import { readRecordedChanges } from "../../applications/changelog.ts"
import type { RouteOwner } from "../../routes/editRoutes.ts"
import { readProxyText } from "../../routes/proxyFile.ts"
import { proxyLocation } from "../../routes/proxyLocation.ts"
import { readProxy } from "../../routes/proxyText.ts"
import { listRouterDomains, listRouteTargets } from "../../routes/queryProxy.ts"
import { RouteEdit } from "../../routes/RouteEdit.ts"
import { toRouteName } from "../inputs/routeName.ts"
import { decideWill, makePart, type Part, stop, unreadable } from "../steps/Part.ts"
import { decideRoute, decideWantedRoute, type DomainHistory, type RouteDecision } from "./decideRoute.ts"
import { shouldClearDomains } from "./proxyRoute.ts"
import { buildRouteChange, describeRouteTarget, findLastDomain } from "./routeHistory.ts"

/** Domain of an application, with its live record. */
export interface DescribedDomain extends DomainHistory {
  readonly app: Option.Option<PlatformRecord>
}

/** Plan of the step `route`, with the proxy file's edit; none if the file is not changed or the step stops. */
export interface DescribedRoute {
  readonly part: Part
  readonly decision: Option.Option<RouteDecision>
}

const addressChange = (old: string | null | undefined, next: string): ReadonlyArray<PlanChange> =>
  (old ?? "") === next
    ? []
    : [{ target: "application", field: "fqdn", label: declaredFields.domain.label, old: old ?? null, new: next }]

/** Describes the live route of this name. */
const describeLiveRoute = (text: string, name: string): string | null =>
  Either.match(readProxy(text), {
    onLeft: () => null,
    onRight: (proxy) => {
      const targets = listRouteTargets(proxy, name).map((target) => `http://${target}`).join(", ")
      const domains = listRouterDomains(proxy, name).join(", ")
      return targets === "" && domains === "" ? null : `${domains} to ${targets}`
    }
  })

const routeLabel = "Proxy route"
const unreadRoute = (reason: string) => [{ field: "route", label: routeLabel, reason }]

const routeStays = (declared: string | null, live: unknown, remedy: string): StayingDifference => ({
  target: "route",
  field: "route",
  label: routeLabel,
  declared,
  live,
  remedy
})

/** Finds the application's own route for a domain that is no longer declared. */
const findAbandonedRoute = (text: string, name: string, declared: Option.Option<string>, owner: RouteOwner) =>
  Either.match(readProxy(text), {
    onLeft: () => [],
    onRight: (proxy) => {
      const domains = listRouterDomains(proxy, name)
      const isLeft = Option.exists(owner.lastDomain, (last) => domains.includes(last)) &&
        owner.namesakes.length === 0 &&
        !Option.exists(declared, (domain) => domains.includes(domain.toLowerCase()))
      return isLeft
        ? [
          routeStays(
            null,
            describeLiveRoute(text, name),
            `No entry declares this domain any more: remove the route ${name}`
          )
        ]
        : []
    }
  })

/** Describes the route of a domain that the proxy no longer serves. */
const describeAbandonedRoute = ({ namesakes, plan: { name }, projectPath }: Omit<DescribedDomain, "domain">) =>
  Effect.gen(function*() {
    const recorded = yield* readRecordedChanges(projectPath, name)
    const last = findLastDomain(recorded)
    if (Option.isNone(last)) return {}
    const read = yield* Effect.either(Effect.flatMap(proxyLocation, readProxyText))
    if (Either.isLeft(read)) return { unread: unreadRoute(read.left.message) }
    const owner = { formerTargets: [], lastDomain: last, namesakes }
    return { stays: findAbandonedRoute(read.right, toRouteName(name), Option.none(), owner) }
  })

const describeProxyRoute = (wanted: DescribedDomain, address: ReadonlyArray<PlanChange>) =>
  Effect.gen(function*() {
    const { domain, plan, target } = wanted
    const clears = shouldClearDomains(plan, target) ? ["clearDomains"] : []
    const stopped = (reason: string, given: Partial<Part> = {}): DescribedRoute => ({
      part: stop("route", reason, { changes: address, writes: clears, ...given }),
      decision: Option.none()
    })
    const wantedOrFailure = yield* Effect.either(decideWantedRoute(wanted))
    if (Either.isLeft(wantedOrFailure)) {
      const { message } = wantedOrFailure.left
      return stopped(message, { stays: [routeStays(domain, null, message)] })
    }
    const { route } = wantedOrFailure.right
    const decided = yield* Effect.either(decideRoute(wantedOrFailure.right))
    if (Either.isLeft(decided)) {
      const { _tag, message } = decided.left
      return _tag === "RouteTaken" || _tag === "ProxyFileUnfit" || _tag === "RouteInvalid"
        ? stopped(message, {
          stays: [routeStays(describeRouteTarget(route), message, "Make room for the route, and run the upsert again")],
          facts: { route: { value: message, now: "unfit for this route" } }
        })
        : stopped(message, {
          unknown: [`the proxy file: ${message}`],
          unread: unreadRoute(message),
          facts: { route: unreadable }
        })
    }
    const { before, edit } = decided.right
    const old = describeLiveRoute(before, route.routeName)
    const facts = { route: { value: [RouteEdit.$is("Edited")(edit) ? edit.change : edit.reason, old, edit.warnings] } }
    const planned = RouteEdit.$match(edit, {
      Unchanged: ({ reason, warnings }) =>
        makePart({
          step: "route",
          will: decideWill(address),
          detail: `${domain} is in the proxy file already`,
          changes: address,
          writes: clears,
          stays: [
            ...(reason === "routed_elsewhere"
              ? [routeStays(
                describeRouteTarget(route),
                warnings.join("; "),
                "Another route has the domain: remove that, and run the upsert again"
              )]
              : []),
            ...findAbandonedRoute(before, route.routeName, plan.domain, wantedOrFailure.right.owner)
          ],
          warnings,
          facts
        }),
      Edited: ({ change, warnings }) =>
        makePart({
          step: "route",
          will: "change",
          detail: `route ${route.routeName} is ${change}: ${describeRouteTarget(route)}`,
          changes: [...address, {
            target: "route",
            ...buildRouteChange(route),
            old: change === "replaced" ? old : null
          }],
          writes: [...clears, "proxyFile"],
          warnings,
          facts
        })
    })
    return { part: planned, decision: Option.some(decided.right) }
  })

const withoutProxy = (planned: Part): DescribedRoute => ({ part: planned, decision: Option.none() })

/** Plans the step `route`: the platform serves applications on its own host, the proxy file all others. */
export const describeRoute = Effect.fn("describeRoute")(function*(
  wanted: Omit<DescribedDomain, "domain">
): Effect.fn.Return<DescribedRoute, never, LocalFiles | Path.Path | Settings | Ssh> {
  const { app, plan, target } = wanted
  if (Option.isNone(plan.domain)) {
    const left = yield* describeAbandonedRoute(wanted)
    return withoutProxy(makePart({ step: "route", will: "skip", detail: "no domain", ...left }))
  }
  const fqdn = Option.match(app, { onNone: () => null, onSome: (record) => record.fqdn })
  if (target.local) {
    const url = `https://${plan.domain.value}`
    const changes = addressChange(fqdn, url)
    return withoutProxy(makePart({
      ...yield* describeAbandonedRoute(wanted),
      step: "route",
      will: decideWill(changes),
      detail: changes.length === 0 ? `the platform serves ${url} already` : `lets the platform serve ${url}`,
      changes,
      writes: ["setDomain"]
    }))
  }
  const address = shouldClearDomains(plan, target) ? addressChange(fqdn, "") : []
  return yield* describeProxyRoute({ ...wanted, domain: plan.domain.value }, address)
})
