import { Path } from "@effect/platform"
import { Array, Clock, type Duration, Effect, Either, Option, Predicate } from "effect"
import { type BridgeNote, parseBridgeNote, showBridges } from "../remote/bridge.ts"
import { portOpenCommand, portOpenExit } from "../remote/server.ts"
import { type Hop, type HopName, NotVerifiable, type Verification } from "../schema/applications.ts"
import { parseStackPath } from "../schema/servers.ts"
import type { AppRequest } from "../schema/upsert.ts"
import { pluralize, quoteInput } from "../schema/words.ts"
import { Platform } from "../services/platform/Platform.ts"
import { scrubSecrets, Settings } from "../services/settings/Settings.ts"
import { execute, Ssh } from "../services/ssh/Ssh.ts"
import { type HttpsAnswer, HttpsProbe } from "../services/tls.ts"
import { findApplication } from "./applications/applications.ts"
import { type AppPlan } from "./applications/platformFile.ts"
import { readAddresses } from "./bridge/rollout.ts"
import { listConfiguredPlaces, listVariants, readContainerConfig, resolveRemotePath } from "./projects/files.ts"
import { permitPath } from "./projects/paths.ts"
import { toRouteName } from "./routes/ownRoute.ts"
import { type ProxyLocation, proxyLocation, proxyServer, readProxyText } from "./routes/proxyFile.ts"
import { type BrokenProxy, type ProxyText, readProxy } from "./routes/proxyText.ts"
import { findMissingMiddlewares, findRoutersForDomain, hasRouteTo, listDomainTargets } from "./routes/queryProxy.ts"
import { formatTarget } from "./routes/routeLines.ts"
import { describeRoute } from "./upsert/route.ts"
import { findLive, findPlatformTarget, type LiveState, type PlatformTarget, readPlan } from "./upsert/step.ts"

/** Places of a project: those in its `container.json`, else every server with one of these addresses. */
const placesOf = (projectPath: string, home: ProxyLocation, hosts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const config = yield* readContainerConfig(projectPath)
    const name = (yield* Path.Path).basename(projectPath)
    const named = listVariants(config).flatMap((variant) => listConfiguredPlaces(variant.config, name))
    if (named.length > 0) return named
    const remotePath = resolveRemotePath(config, name)
    const found = yield* Effect.filter(
      yield* (yield* Settings).servers,
      (server) => Effect.map(readAddresses(server, home, []), (own) => own.some((host) => hosts.includes(host)))
    )
    return found.map(({ id }) => ({ serverId: id, remotePath }))
  })

/** Reads the note about bridges at a place; none if it cannot be read. */
const noteAt = ({ remotePath, serverId }: { readonly serverId: string; readonly remotePath: string }) =>
  Effect.gen(function*() {
    const path = yield* parseStackPath("remotePath", remotePath)
    const access = yield* (yield* Settings).server(serverId)
    const { stdout } = yield* execute(access, showBridges(path))
    return parseBridgeNote(stdout)
  }).pipe(Effect.orElseSucceed(() => Option.none<BridgeNote>()))

/**
 * Finds the run whose bridge replaces a port of a project, as recorded on the bridge's server.
 * @param targets targets of a route, as `host:port` in lower case; all of them must belong to that bridge
 */
const findBridge = (projectPath: string, port: number, home: ProxyLocation, targets: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const hosts = targets.map((target) => target.replace(/:\d+$/, ""))
    const notes = yield* Effect.forEach(yield* placesOf(projectPath, home, hosts), noteAt, { concurrency: 4 })
    return Array.findFirst(Array.getSomes(notes), ({ bridges, proxy }) => {
      const ports = bridges.filter((bridge) => bridge.port === port).map(({ bridgePort }) => bridgePort)
      const own: ReadonlyArray<string> = Option.match(proxy, {
        onNone: () => [],
        onSome: (edited) =>
          edited.file === home.file ? edited.hosts.flatMap((host) => ports.map((each) => `${host}:${each}`)) : []
      })
      return targets.every((target) => own.includes(target))
    })
  }).pipe(
    Effect.map(Option.map(({ run }) => run)),
    // Without the note, the actual target of the route counts.
    Effect.orElseSucceed(() => Option.none<string>()),
    Effect.withSpan("verify.findBridge")
  )

const timeLimit: Duration.DurationInput = "15 seconds"

/** Outcome of a hop. */
type Outcome = Pick<Hop, "ok" | "detail" | "warning">

const makeFailedOutcome = (detail: string): Outcome => ({ ok: false, detail })

/** @param warning a problem that does not fail the hop */
const makePassedOutcome = (detail: string, warning?: string): Outcome => ({
  ok: true,
  detail,
  ...(warning === undefined ? {} : { warning })
})

/** Runs one hop: a failure or a timeout is its outcome. An effect that ignores interruption is abandoned. */
const runHop = <E extends { readonly message: string }, R>(hop: HopName, effect: Effect.Effect<Outcome, E, R>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const { detail, ok, warning } = yield* effect.pipe(
      Effect.catchAll(({ message }) => Effect.succeed(makeFailedOutcome(message))),
      Effect.disconnect,
      Effect.timeoutTo({
        duration: timeLimit,
        onSuccess: (result) => result,
        onTimeout: () => makeFailedOutcome(`No answer within ${timeLimit}`)
      })
    )
    return {
      hop,
      ok,
      detail: yield* scrubSecrets(detail),
      ...(warning === undefined ? {} : { warning: yield* scrubSecrets(warning) }),
      millis: Math.round((yield* Clock.currentTimeMillis) - start)
    } satisfies Hop
  })

/** Checks that the platform reports the application as running. */
const checkApplication = ({ name }: AppPlan) =>
  Effect.gen(function*() {
    const found = yield* findApplication(name)
    if (Option.isNone(found)) return makeFailedOutcome(`The platform has no application named ${quoteInput(name)}`)
    const { raw } = yield* (yield* Platform).application(found.value.uuid)
    const status = raw["status"]
    if (!Predicate.isString(status) || status === "") {
      return makeFailedOutcome("The platform does not say whether it runs")
    }
    if (!/^running\b/.test(status)) return makeFailedOutcome(`The platform says: ${status}`)
    return makePassedOutcome(
      `The platform says: ${status}`,
      /\bunhealthy\b/.test(status) ? "Its health check fails, or it has none" : undefined
    )
  })

/** Checks that the application's port accepts connections from the proxy's server. */
const checkApplicationPort = (plan: AppPlan) =>
  Effect.gen(function*() {
    const { ip } = yield* findPlatformTarget(plan)
    if (Option.isNone(plan.port)) return makePassedOutcome("No port is declared")
    if (Option.isNone(ip)) return makeFailedOutcome("The address of its server is not known: set proxy.targetIp")
    const server = yield* proxyServer
    const { code, stderr } = yield* (yield* Ssh).exec(server, portOpenCommand(ip.value, plan.port.value), {
      timeout: "12 seconds"
    })
    const way = `${formatTarget({ targetIp: ip.value, port: plan.port.value })}, seen from "${server.name}",`
    if (code === portOpenExit.open) return makePassedOutcome(`${way} takes connections`)
    if (code === portOpenExit.closed) return makeFailedOutcome(`${way} does not accept connections`)
    return makeFailedOutcome(
      code === portOpenExit.untold
        ? `Whether ${way} takes connections cannot be told: "${server.name}" has neither nc nor bash nor curl`
        : `Whether ${way} takes connections cannot be told: ${stderr.trim().slice(-300)}`
    )
  })

const usualPort = 443
/** Days before expiry at which proxies renew a certificate. */
const renewalDays = 30

/**
 * Address that serves the domain: the proxy's server, or the platform's own host for a local application. Behind jump
 * hosts, the server's address is not usable from here, so the domain itself is requested as browsers do.
 */
const servedAt = (plan: AppPlan, domain: string) =>
  Effect.gen(function*() {
    const target = Option.isSome(plan.server) ? yield* Effect.option(findPlatformTarget(plan)) : Option.none()
    const local = Option.flatMap(target, ({ ip, local }) => local ? ip : Option.none())
    if (Option.isSome(local)) return { address: local.value, isPublic: false }
    const { host, via } = yield* proxyServer
    return via === undefined ? { address: host, isPublic: false } : { address: domain, isPublic: true }
  })

const lifeOf = ({ daysLeft, issuer }: HttpsAnswer): string =>
  `its certificate is by ${issuer}, ` +
  (daysLeft < 0 ? `and ended ${pluralize(-daysLeft, "day")} ago` : `with ${pluralize(daysLeft, "day")} left`)

const warningOf = ({ daysLeft, httpStatus }: HttpsAnswer): string | undefined =>
  [
    ...(daysLeft < renewalDays
      ? [`The certificate ends in ${pluralize(daysLeft, "day")}: make sure that the proxy renews it`]
      : []),
    ...(httpStatus === 404 ? ["404 is also what a proxy answers for a domain that none of its routers is for"] : [])
  ].join("; ") || undefined

/** Checks that the domain answers over HTTPS at the proxy itself, with a certificate that browsers trust. */
export const checkHttps = (plan: AppPlan) =>
  Effect.gen(function*() {
    if (Option.isNone(plan.domain)) return makePassedOutcome("No domain is declared")
    const domain = plan.domain.value
    const { address, isPublic } = yield* servedAt(plan, domain)
    const port = isPublic ? usualPort : yield* (yield* Settings).get("proxy.httpsPort")
    const place = isPublic
      ? "its public address, as the proxy's server is behind a jump host,"
      : port === usualPort
      ? address
      : formatTarget({ targetIp: address, port })
    const answer = yield* Effect.either((yield* HttpsProbe).ask({ address, port, domain }))
    if (answer._tag === "Left") {
      return makeFailedOutcome(`https://${domain} does not answer at ${place}: ${answer.left.message}`)
    }
    const { distrust, httpStatus } = answer.right
    const said = `https://${domain} at ${place} answers ${httpStatus}; ${lifeOf(answer.right)}`
    if (distrust !== null) return makeFailedOutcome(`${said}; browsers do not trust it: ${distrust}`)
    return httpStatus < 500 ? makePassedOutcome(said, warningOf(answer.right)) : makeFailedOutcome(said)
  })

/** Finds routers that the proxy disables because a middleware is missing. */
const disabled = (proxy: ProxyText, domain: string): string | undefined =>
  findRoutersForDomain(proxy, domain).flatMap((router) => {
    const missing = findMissingMiddlewares(proxy, router)
    return missing.length === 0 ? [] : [`${router} uses ${missing.join(", ")}, which the file does not define`]
  }).map((words) => `The proxy leaves out a router: ${words}`).join("; ") || undefined

/** Warns of the differences that drift and a plan find in the domain's route. */
const asJudged = (projectPath: string, plan: AppPlan, target: PlatformTarget, { app, namesakes }: LiveState) =>
  Effect.gen(function*() {
    const { part } = yield* describeRoute({ plan, target, app, namesakes, projectPath, changes: [] })
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

const describeBrokenProxy = (file: string, { line, reason }: BrokenProxy) =>
  `The proxy file ${line === null ? file : `${file}:${line}`} cannot be read: ${reason}`

const inProxy = (projectPath: string, plan: AppPlan, domain: string, { ip }: PlatformTarget) =>
  Effect.gen(function*() {
    const home = yield* proxyLocation
    const proxy = readProxy(yield* readProxyText(home))
    if (Either.isLeft(proxy)) return makeFailedOutcome(describeBrokenProxy(home.file, proxy.left))
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

/**
 * Follows the path of a request to a declared application: it runs on the platform, its port accepts connections, the
 * proxy file routes its domain there, and HTTPS on the domain responds. Every hop is checked, even after a failure.
 */
export const verify = Effect.fn("verify")(function*(request: AppRequest) {
  yield* permitPath(request.projectPath)
  const undeclared = ({ message }: { readonly message: string }) => new NotVerifiable({ reason: message })
  const plan = yield* Effect.catchTags(readPlan(request), {
    NoPlatformFile: undeclared,
    AppNotDeclared: undeclared,
    DomainWithoutPort: undeclared
  })
  const hops: ReadonlyArray<Hop> = yield* Effect.all([
    runHop("application", checkApplication(plan)),
    runHop("port", checkApplicationPort(plan)),
    runHop("route", checkRoute(request.projectPath, plan)),
    runHop("https", checkHttps(plan))
  ], { concurrency: "unbounded" })
  return { hops, failing: hops.find(({ ok }) => !ok)?.hop ?? null } satisfies Verification
})
