import type { Path } from "@effect/platform"
import { Array, Effect, Either, Option, Predicate, Ref } from "effect"
import { declaredFields, hostPortKey } from "../../schema/declaredFields.ts"
import type { Route } from "../../schema/routes.ts"
import {
  type Change,
  DomainWithoutPort,
  type PlanChange,
  type StayingDifference,
  TargetUnusable
} from "../../schema/upsert.ts"
import { quoteInput } from "../../schema/words.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { skipStep } from "../../services/runs/Steps.ts"
import { bridgePorts, type Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { readRecordedChanges } from "../applications/changelog.ts"
import type { AppPlan } from "../applications/platformFile.ts"
import { ensureRoute, refuseIfBridged } from "../routes/editRoutes.ts"
import { type RouteOwner, toRouteName } from "../routes/ownRoute.ts"
import {
  editProxyFile,
  type PreviewFailure,
  previewProxyEdit,
  proxyLocation,
  readProxyText
} from "../routes/proxyFile.ts"
import { readProxy, RouteEdit } from "../routes/proxyText.ts"
import { listRouterDomains, listRouteTargets } from "../routes/queryProxy.ts"
import { formatTarget } from "../routes/routeLines.ts"
import {
  decideWill,
  describe,
  describeEarlierChange,
  describeState,
  describeStop,
  type Description,
  type Intent,
  makeStep,
  type MatchesPlan,
  noChange,
  type PlatformTarget,
  type Seen,
  StoredChange,
  type Synced,
  unreadable
} from "./step.ts"

const field = "traefik_route"

/** Describes a route as domain and target. */
const describeRouteTarget = (route: Route): string => `${route.domain} to http://${formatTarget(route)}`

/** Change of a new route, for the changelog. */
const buildRouteChange = (route: Route): Change => ({
  field,
  label: "Proxy route",
  old: null,
  new: describeRouteTarget(route)
})

/**
 * Targets that an application's route may have had according to its recorded changes: those of its routes, and its
 * former ports at the present address.
 */
const listFormerTargets = (changes: ReadonlyArray<Change>, targetIp: string): ReadonlyArray<string> =>
  changes.flatMap((change) => {
    const values = [change.old, change.new].filter(Predicate.isString)
    if (change.field === field) return values.flatMap((way) => / to http:\/\/(\S+)$/.exec(way)?.[1] ?? [])
    return change.field === hostPortKey
      ? values.filter((value) => /^\d+$/.test(value)).map((value) => formatTarget({ targetIp, port: Number(value) }))
      : []
  })

/** Domain, in lower case, that an application's route was last written for, according to its recorded changes. */
const findLastDomain = (changes: ReadonlyArray<Change>): Option.Option<string> =>
  Array.last(changes.flatMap((change) =>
    change.field === field && Predicate.isString(change.new)
      ? /^(\S+) to http:\/\//.exec(change.new)?.[1]?.toLowerCase() ?? []
      : []
  ))

/** Domain to route to an application. */
interface RequestedDomain extends Pick<Synced, "changes" | "namesakes" | "plan" | "projectPath" | "target"> {
  readonly domain: string
}

/** Route from a domain to an application, with the evidence that identifies an existing one as its own. */
interface ProxyRoute {
  readonly route: Route
  readonly owner: RouteOwner
}

/**
 * Decides the route of a domain that the proxy serves.
 * @param changes recorded changes of the application, oldest first
 */
const decideProxyRoute = (
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
const shouldClearDomains = (plan: AppPlan, target: PlatformTarget): boolean =>
  Option.isSome(plan.domain) && !target.local && plan.buildPack !== "composestack"

/** Text of the proxy file, with the edit for a route. */
interface RouteDecision extends ProxyRoute {
  readonly before: string
  readonly edit: RouteEdit
}

/** Decides the route of a domain from the changelog, without reading the proxy file. */
const decideWantedRoute = (
  wanted: RequestedDomain
): Effect.Effect<ProxyRoute, DomainWithoutPort | TargetUnusable, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const recorded = yield* readRecordedChanges(wanted.projectPath, wanted.plan.name)
    return yield* decideProxyRoute(wanted, [...recorded, ...wanted.changes])
  })

/**
 * Edit of the proxy file that routes a domain to its application, unless a bridge currently serves the route's
 * requests.
 */
const buildRouteEdit = ({ owner, route }: ProxyRoute) =>
  Effect.map(
    bridgePorts,
    (bridges) =>
      refuseIfBridged(route, bridges, owner.formerTargets.map((target) => target.toLowerCase()))(
        (text) => ensureRoute(text, route, owner)
      )
  )

/** Reads the proxy file and decides the edit for a domain's route. */
const decideRoute = Effect.fn("decideRoute")(function*(
  wanted: ProxyRoute
): Effect.fn.Return<RouteDecision, PreviewFailure, Settings | Ssh> {
  const { before, edit } = yield* previewProxyEdit(yield* buildRouteEdit(wanted))
  return { ...wanted, before, edit }
})

const verbs = { inserted: "insert", replaced: "replace", removed: "remove" }

/** Describes an edit, for comparison with a plan. */
const describeRouteEdit = (edit: RouteEdit, { route }: ProxyRoute): string =>
  RouteEdit.$match(edit, {
    Unchanged: () => noChange,
    Edited: ({ change }) => `${verbs[change]} the route ${route.routeName}: ${describeRouteTarget(route)}`
  })

const describeRouted = (domain: string) => `${domain} is in the proxy file already`
const warned = (detail: string, warnings: ReadonlyArray<string>) =>
  warnings.length === 0 ? detail : `${detail}; warning: ${warnings.join("; ")}`

/** Ties of the step to its plan and to earlier attempts. */
interface RouteBinding {
  readonly decision: Option.Option<RouteDecision>
  readonly matches: MatchesPlan
  readonly intent: Intent
}

const routeInProxy = (wanted: RequestedDomain, { decision: planned, intent, matches }: RouteBinding) =>
  Effect.gen(function*() {
    const { domain } = wanted
    const proxyRoute = Option.isSome(planned) ? planned.value : yield* decideWantedRoute(wanted)
    const { route } = proxyRoute
    const first = yield* Ref.make(Option.none<Option.Option<Change>>())
    const edit = yield* editProxyFile(yield* buildRouteEdit(proxyRoute), {
      before: Option.map(planned, ({ before }) => before),
      matchesPlan: (now) =>
        Effect.zipRight(
          matches(describeRouteEdit(now, proxyRoute)),
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
      Unchanged: ({ warnings }): StoredChange => ({
        detail: warned(
          Option.match(made, { onNone: () => describeRouted(domain), onSome: describeEarlierChange }),
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
 * The platform itself serves applications on its own host; for any other server the proxy file gets a route to its
 * address and port.
 */
const applyRoute = Effect.fn("applyRoute")(function*(state: Synced, domain: string, binding: RouteBinding) {
  const platform = yield* Platform
  const { plan, target, uuid } = state
  if (target.local) {
    const url = `https://${domain}`
    yield* platform.setDomain({ uuid, buildPack: plan.buildPack }, url, Option.getOrUndefined(plan.service))
    return { detail: `the platform serves ${url}`, change: Option.none() }
  }
  // The platform's own address would compete with the route. Ignored if it fails, because that does no harm.
  if (shouldClearDomains(plan, target)) yield* Effect.ignore(platform.clearDomains(uuid))
  return yield* routeInProxy({ ...state, domain }, binding)
})

/** Plan of the step, with the proxy file's edit; none if the file is not changed or the step stops. */
interface DescribedRoute {
  readonly part: Description
  readonly decision?: RouteDecision
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
const describeAbandonedRoute = ({ namesakes, plan: { name }, projectPath }: Omit<RequestedDomain, "domain">) =>
  Effect.gen(function*() {
    const recorded = yield* readRecordedChanges(projectPath, name)
    const last = findLastDomain(recorded)
    if (Option.isNone(last)) return {}
    const read = yield* Effect.either(Effect.flatMap(proxyLocation, readProxyText))
    if (Either.isLeft(read)) return { unread: unreadRoute(read.left.message) }
    const owner = { formerTargets: [], lastDomain: last, namesakes }
    return { stays: findAbandonedRoute(read.right, toRouteName(name), Option.none(), owner) }
  })

const describeProxyRoute = (wanted: RequestedDomain, address: ReadonlyArray<PlanChange>) =>
  Effect.gen(function*() {
    const { domain, plan, target } = wanted
    const clears = shouldClearDomains(plan, target) ? ["clearDomains"] : []
    const stopped = (reason: string, given: Partial<Description> = {}): DescribedRoute => ({
      part: describeStop(reason, { changes: address, writes: clears, ...given })
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
        describe({
          will: decideWill(address),
          detail: describeRouted(domain),
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
        describe({
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
    return { part: planned, decision: decided.right }
  })

/** Decides how the domain is served: by the platform on its own host, through the proxy file on all others. */
export const describeRoute = Effect.fn("describeRoute")(function*(
  seen: Omit<RequestedDomain, "domain"> & Pick<Seen, "app">
): Effect.fn.Return<DescribedRoute, never, LocalFiles | Path.Path | Settings | Ssh> {
  const { app, plan, target } = seen
  if (Option.isNone(plan.domain)) {
    return { part: describe({ will: "skip", detail: noDomain, ...yield* describeAbandonedRoute(seen) }) }
  }
  const fqdn = Option.match(app, { onNone: () => null, onSome: (record) => record.fqdn })
  if (target.local) {
    const url = `https://${plan.domain.value}`
    const changes = addressChange(fqdn, url)
    const detail = changes.length === 0 ? `the platform serves ${url} already` : `lets the platform serve ${url}`
    const abandoned = yield* describeAbandonedRoute(seen)
    return { part: describe({ ...abandoned, will: decideWill(changes), detail, changes, writes: ["setDomain"] }) }
  }
  const address = shouldClearDomains(plan, target) ? addressChange(fqdn, "") : []
  return yield* describeProxyRoute({ ...seen, domain: plan.domain.value }, address)
})

const noDomain = "no domain"

/** Upsert step 7: routes the domain to the application. */
export const routeStep = makeStep("route", {
  plan: (seen) =>
    Effect.map(describeRoute(seen), ({ decision, part }) => ({
      part,
      decision: Option.fromNullable(decision),
      words: part.stops
        ? Option.some("stop here")
        : Option.map(Option.fromNullable(decision), (decided) => describeRouteEdit(decided.edit, decided)),
      changes: part.changes.filter(({ target }) => target === "route")
    })),
  apply: (state: Synced, { stage, ...binding }) =>
    Option.match(state.plan.domain, {
      onNone: () => Effect.as(skipStep("route", noDomain), state),
      onSome: (domain) =>
        stage(
          StoredChange,
          () => applyRoute(state, domain, binding),
          ({ detail }) => detail,
          describeState(state)
        ).pipe(
          Effect.map(({ change }): Synced => ({ ...state, changes: [...state.changes, ...Option.toArray(change)] }))
        )
    })
})
