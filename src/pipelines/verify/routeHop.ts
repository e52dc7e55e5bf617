import { Effect, Either, Option } from "effect"
import type { AppPlan } from "../applications/appPlan.ts"
import { hasRouteTo } from "../routes/hasRouteTo.ts"
import { readProxyText } from "../routes/proxyFile.ts"
import { proxyLocation } from "../routes/proxyLocation.ts"
import { type ProxyText, readProxy } from "../routes/proxyText.ts"
import { findMissingMiddlewares, findRoutersForDomain, listDomainTargets } from "../routes/queryProxy.ts"
import { formatTarget } from "../routes/routeLines.ts"
import { findLive, type LiveState } from "../upsert/inputs/findLive.ts"
import { findPlatformTarget } from "../upsert/inputs/findPlatformTarget.ts"
import { toRouteName } from "../upsert/inputs/routeName.ts"
import type { PlatformTarget } from "../upsert/inputs/target.ts"
import { describeRoute } from "../upsert/route/describeRoute.ts"
import { findBridge } from "./findBridge.ts"
import { makeFailedOutcome, makePassedOutcome } from "./hop.ts"

/** Finds routers that the proxy disables because a middleware is missing. */
const disabled = (proxy: ProxyText, domain: string): string | undefined =>
  findRoutersForDomain(proxy, domain).flatMap((router) => {
    const missing = findMissingMiddlewares(proxy, router)
    return missing.length === 0 ? [] : [`${router} uses ${missing.join(", ")}, which the file does not define`]
  }).map((words) => `The proxy leaves out a router: ${words}`).join("; ") || undefined

/** Warns of the differences that drift and a plan find in the domain's route. */
const asJudged = (projectPath: string, plan: AppPlan, target: PlatformTarget, { app, namesakes }: LiveState) =>
  Effect.gen(function*() {
    const { part } = yield* describeRoute({ plan, target, app, namesakes, projectPath, portChange: Option.none() })
    const changed = part.changes.map(({ label }) => `an upsert would change the ${label}`)
    return [...changed, ...part.stays.map(({ label, remedy }) => `${label}: ${remedy}`)].join("; ") || undefined
  })

/** The platform serves the domain itself, so its own record of the domain decides. */
const onPlatform = (domain: string, { app }: LiveState) => {
  const url = `https://${domain}`
  const fqdn = Option.match(app, { onNone: () => undefined, onSome: (record) => record.fqdn })
  return fqdn === url
    ? makePassedOutcome("The platform serves the domain itself: it needs no route")
    : makeFailedOutcome(
      `The platform serves ${fqdn === undefined || fqdn === null || fqdn === "" ? "no address" : fqdn}, and not ${url}`
    )
}

/** Passed hop without the warnings of a plan, since an upsert would report the bridge, which its run removes. */
const bridged = (detail: string) => ({ ...makePassedOutcome(detail), isBridged: true })

const inProxy = (projectPath: string, plan: AppPlan, domain: string, { ip }: PlatformTarget) =>
  Effect.gen(function*() {
    const home = yield* proxyLocation
    const proxy = readProxy(yield* readProxyText(home))
    if (Either.isLeft(proxy)) return makeFailedOutcome(`The proxy file ${home.file} is not valid YAML`)
    if (findRoutersForDomain(proxy.right, domain).length === 0) {
      return makeFailedOutcome(`No router of ${home.file} is for ${domain}`)
    }
    const place = { targetIp: Option.getOrElse(ip, () => ""), port: Option.getOrElse(plan.port, () => 0) }
    const targets = listDomainTargets(proxy.right, domain)
    const leads = `${home.file} leads ${domain} to ${targets.length === 0 ? "no server" : targets.join(", ")}`
    const own = formatTarget(place).toLowerCase()
    const isElsewhere = targets.length > 0 && !targets.includes(own)
    const bridge = isElsewhere ? yield* findBridge(projectPath, place.port, home, targets) : Option.none()
    if (Option.isSome(bridge)) {
      return bridged(
        `${leads}, the bridge of run ${bridge.value}, whose step return leads it to ${formatTarget(place)} again`
      )
    }
    if (!hasRouteTo(proxy.right, { routeName: toRouteName(plan.name), domain, ...place })) {
      return makeFailedOutcome(
        targets.includes(own)
          ? `${leads}, but not over https by the route of ${plan.name}`
          : `${leads}, and not to ${formatTarget(place)}`
      )
    }
    return makePassedOutcome(leads, disabled(proxy.right, domain))
  })

/** Checks that the domain leads to the application, by the rules of drift and plans. */
export const checkRoute = (projectPath: string, plan: AppPlan) =>
  Effect.gen(function*() {
    const target = yield* findPlatformTarget(plan)
    const live = yield* Effect.either(findLive(plan))
    const outcome = Option.isNone(plan.domain)
      ? makePassedOutcome("No domain is declared")
      : target.local
      ? onPlatform(plan.domain.value, yield* live)
      : yield* inProxy(projectPath, plan, plan.domain.value, target)
    if (!outcome.ok) return outcome
    if ("isBridged" in outcome) return makePassedOutcome(outcome.detail)
    // An unreachable platform already fails the first hop.
    const judged = Either.isLeft(live) ? undefined : yield* asJudged(projectPath, plan, target, live.right)
    const warnings = [outcome.warning, judged].flatMap((words) => words ?? [])
    return makePassedOutcome(outcome.detail, warnings.length === 0 ? undefined : warnings.join("; "))
  })
