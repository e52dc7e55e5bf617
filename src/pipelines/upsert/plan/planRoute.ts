import type { Path } from "@effect/platform"
import { Effect, Either, Option } from "effect"
import type { PlatformRecord } from "../../../schema/PlatformApp.ts"
import type { PlanChange, StayingDifference } from "../../../schema/PlatformPlan.ts"
import type { LocalFiles } from "../../../services/local/LocalFiles.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { Ssh } from "../../../services/ssh/Ssh.ts"
import { recordedChanges } from "../../applications/changelog.ts"
import { servingFields } from "../../applications/fields.ts"
import type { RouteOwner } from "../../routes/edit.ts"
import { domainsOf, targetsOf } from "../../routes/lookUp.ts"
import { readProxyText } from "../../routes/proxyFile.ts"
import { proxyHome } from "../../routes/proxyHome.ts"
import { readProxy } from "../../routes/proxyText.ts"
import { RouteEdit } from "../../routes/RouteEdit.ts"
import { decideRoute, type DomainHistory, type RouteDecision, wantedRoute } from "../decideRoute.ts"
import { clearsDomains } from "../proxyRoute.ts"
import { lastDomain, routeChange, routeNameOf, wayOf } from "../routeHistory.ts"
import { type Part, part, stop, unreadable, willOf } from "./Part.ts"

/** The domain of an application, and what else the plan knows of it. */
export interface PlannedDomain extends DomainHistory {
  readonly app: Option.Option<PlatformRecord>
}

/** The plan of the step `route`, and what it makes of the proxy file; nothing where it leaves that alone or stops. */
export interface PlannedRoute {
  readonly part: Part
  readonly decision: Option.Option<RouteDecision>
}

const addressChange = (old: string | null | undefined, next: string): ReadonlyArray<PlanChange> =>
  (old ?? "") === next
    ? []
    : [{ target: "application", field: "fqdn", label: servingFields.domain.label, old: old ?? null, new: next }]

/** Where a route of this name leads now. */
const wayNow = (text: string, name: string): string | null =>
  Either.match(readProxy(text), {
    onLeft: () => null,
    onRight: (proxy) => {
      const targets = targetsOf(proxy, name).map((target) => `http://${target}`).join(", ")
      const domains = domainsOf(proxy, name).join(", ")
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

/** The application's own route where it is for a domain that is not declared any more. */
const leftRoute = (text: string, name: string, declared: Option.Option<string>, owner: RouteOwner) =>
  Either.match(readProxy(text), {
    onLeft: () => [],
    onRight: (proxy) => {
      const domains = domainsOf(proxy, name)
      const isLeft = Option.exists(owner.lastDomain, (last) => domains.includes(last)) &&
        owner.namesakes.length === 0 &&
        !Option.exists(declared, (domain) => domains.includes(domain.toLowerCase()))
      return isLeft
        ? [routeStays(null, wayNow(text, name), `No entry declares this domain any more: remove the route ${name}`)]
        : []
    }
  })

/** A domain that the proxy no longer serves leaves the route behind that was written for it. */
const planLeftRoute = ({ namesakes, plan: { name }, projectPath }: Omit<PlannedDomain, "domain">) =>
  Effect.gen(function*() {
    const recorded = yield* recordedChanges(projectPath, name)
    const last = lastDomain(recorded)
    if (Option.isNone(last)) return {}
    const read = yield* Effect.either(Effect.flatMap(proxyHome, readProxyText))
    if (Either.isLeft(read)) return { unread: unreadRoute(read.left.message) }
    const owner = { formerTargets: [], lastDomain: last, namesakes }
    return { stays: leftRoute(read.right, routeNameOf(name), Option.none(), owner) }
  })

const planProxy = (wanted: PlannedDomain, address: ReadonlyArray<PlanChange>) =>
  Effect.gen(function*() {
    const { domain, plan, target } = wanted
    const clears = clearsDomains(plan, target) ? ["clearDomains"] : []
    const stopped = (reason: string, given: Partial<Part> = {}): PlannedRoute => ({
      part: stop("route", reason, { changes: address, writes: clears, ...given }),
      decision: Option.none()
    })
    const wished = yield* Effect.either(wantedRoute(wanted))
    if (Either.isLeft(wished)) {
      const { message } = wished.left
      return stopped(message, { stays: [routeStays(domain, null, message)] })
    }
    const { route } = wished.right
    const decided = yield* Effect.either(decideRoute(wished.right))
    if (Either.isLeft(decided)) {
      const { _tag, message } = decided.left
      return _tag === "RouteTaken" || _tag === "ProxyFileUnfit" || _tag === "RouteInvalid"
        ? stopped(message, {
          stays: [routeStays(wayOf(route), message, "Make room for the route, and run the upsert again")],
          facts: { route: { value: message, now: "unfit for this route" } }
        })
        : stopped(message, {
          unknown: [`the proxy file: ${message}`],
          unread: unreadRoute(message),
          facts: { route: unreadable }
        })
    }
    const { before, edit } = decided.right
    const old = wayNow(before, route.routeName)
    const facts = { route: { value: [RouteEdit.$is("Edited")(edit) ? edit.change : edit.reason, old, edit.warnings] } }
    const planned = RouteEdit.$match(edit, {
      Unchanged: ({ reason, warnings }) =>
        part({
          step: "route",
          will: willOf(address),
          detail: `${domain} is in the proxy file already`,
          changes: address,
          writes: clears,
          stays: [
            ...(reason === "routed_elsewhere"
              ? [routeStays(
                wayOf(route),
                warnings.join("; "),
                "Another route has the domain: remove that, and run the upsert again"
              )]
              : []),
            ...leftRoute(before, route.routeName, plan.domain, wished.right.owner)
          ],
          warnings,
          facts
        }),
      Edited: ({ change, warnings }) =>
        part({
          step: "route",
          will: "change",
          detail: `route ${route.routeName} is ${change}: ${wayOf(route)}`,
          changes: [...address, { target: "route", ...routeChange(route), old: change === "replaced" ? old : null }],
          writes: [...clears, "proxyFile"],
          warnings,
          facts
        })
    })
    return { part: planned, decision: Option.some(decided.right) }
  })

const withoutProxy = (planned: Part): PlannedRoute => ({ part: planned, decision: Option.none() })

/** Plans the step `route`: the platform serves what runs on its own host, the proxy file everything else. */
export const planRoute = Effect.fn("planRoute")(function*(
  wanted: Omit<PlannedDomain, "domain">
): Effect.fn.Return<PlannedRoute, never, LocalFiles | Path.Path | Settings | Ssh> {
  const { app, plan, target } = wanted
  if (Option.isNone(plan.domain)) {
    const left = yield* planLeftRoute(wanted)
    return withoutProxy(part({ step: "route", will: "skip", detail: "no domain", ...left }))
  }
  const fqdn = Option.match(app, { onNone: () => null, onSome: (record) => record.fqdn })
  if (target.local) {
    const url = `https://${plan.domain.value}`
    const changes = addressChange(fqdn, url)
    return withoutProxy(part({
      ...yield* planLeftRoute(wanted),
      step: "route",
      will: willOf(changes),
      detail: changes.length === 0 ? `the platform serves ${url} already` : `lets the platform serve ${url}`,
      changes,
      writes: ["setDomain"]
    }))
  }
  const address = clearsDomains(plan, target) ? addressChange(fqdn, "") : []
  return yield* planProxy({ ...wanted, domain: plan.domain.value }, address)
})
