import { Clock, type Duration, Effect, Either, Option, Predicate } from "effect"
import type { AppRequest } from "../../schema/Drift.ts"
import { type Hop, type HopName, NotVerifiable, type Verification } from "../../schema/Verify.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { HttpsProbe } from "../../services/tls/HttpsProbe.ts"
import { findApplication } from "../applications/applications.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { portOpenCommand, portOpenExit } from "../remote/portOpen.ts"
import { targetOf } from "../routes/block.ts"
import { routersFor, targetsFor } from "../routes/lookUp.ts"
import { readProxyText } from "../routes/proxyFile.ts"
import { proxyHome } from "../routes/proxyHome.ts"
import { readProxy } from "../routes/proxyText.ts"
import { findTarget } from "../upsert/findTarget.ts"
import { readPlan } from "../upsert/readPlan.ts"

const timeLimit: Duration.DurationInput = "15 seconds"
const httpsPort = 443

type Outcome = Pick<Hop, "ok" | "detail">
const passed = (detail: string): Outcome => ({ ok: true, detail })
const failed = (detail: string): Outcome => ({ ok: false, detail })

/** Walks one hop: what fails in it, or takes too long, is its outcome. */
const walk = <E extends { readonly message: string }, R>(hop: HopName, effect: Effect.Effect<Outcome, E, R>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const outcome = yield* effect.pipe(
      Effect.catchAll(({ message }) => Effect.map(withoutSecrets(message), failed)),
      Effect.timeoutTo({
        duration: timeLimit,
        onSuccess: (result) => result,
        onTimeout: () => failed(`No answer within ${timeLimit}`)
      })
    )
    return { hop, ...outcome, millis: Math.round((yield* Clock.currentTimeMillis) - start) } satisfies Hop
  })

const application = ({ name }: AppPlan) =>
  Effect.gen(function*() {
    const found = yield* findApplication(name)
    if (Option.isNone(found)) return failed(`The platform has no application named "${name}"`)
    const { raw } = yield* (yield* Platform).application(found.value.uuid)
    const status = raw["status"]
    if (!Predicate.isString(status) || status === "") return failed("The platform does not say whether it runs")
    return (/^running\b/.test(status) ? passed : failed)(`The platform says: ${status}`)
  })

const port = (plan: AppPlan) =>
  Effect.gen(function*() {
    const { ip } = yield* findTarget(plan)
    if (Option.isNone(plan.port)) return passed("No port is declared")
    if (Option.isNone(ip)) return failed("The address of its server is not known: set proxy.targetIp")
    const { server } = yield* proxyHome
    const { code, stderr } = yield* (yield* Ssh).exec(server, portOpenCommand(ip.value, plan.port.value), {
      timeout: "12 seconds"
    })
    const way = `${targetOf({ targetIp: ip.value, port: plan.port.value })}, seen from "${server.name}",`
    if (code === portOpenExit.open) return passed(`${way} takes connections`)
    if (code === portOpenExit.closed) return failed(`${way} takes no connection`)
    return failed(
      code === portOpenExit.untold
        ? `Whether ${way} takes connections cannot be told: "${server.name}" has neither nc nor bash nor curl`
        : `Whether ${way} takes connections cannot be told: ${stderr.trim().slice(-300)}`
    )
  })

const route = (plan: AppPlan) =>
  Effect.gen(function*() {
    const { ip, local } = yield* findTarget(plan)
    if (Option.isNone(plan.domain)) return passed("No domain is declared")
    if (local) return passed("The platform serves the domain itself: it needs no route")
    const domain = plan.domain.value
    const home = yield* proxyHome
    const proxy = readProxy(yield* readProxyText(home))
    if (Either.isLeft(proxy)) return failed(`The proxy file ${home.file} cannot be read as YAML`)
    if (routersFor(proxy.right, domain).length === 0) return failed(`No router of ${home.file} is for ${domain}`)
    const wanted = targetOf({ targetIp: Option.getOrElse(ip, () => ""), port: Option.getOrElse(plan.port, () => 0) })
    const targets = targetsFor(proxy.right, domain)
    const leads = `${home.file} leads ${domain} to ${targets.length === 0 ? "no server" : targets.join(", ")}`
    return targets.includes(wanted.toLowerCase()) ? passed(leads) : failed(`${leads}, and not to ${wanted}`)
  })

const https = (plan: AppPlan) =>
  Effect.gen(function*() {
    if (Option.isNone(plan.domain)) return passed("No domain is declared")
    const domain = plan.domain.value
    const { server } = yield* proxyHome
    const answer = yield* (yield* HttpsProbe).ask({ address: server.host, port: httpsPort, domain })
    const { daysLeft, distrust, httpStatus, issuer } = answer
    const said = `https://${domain} at ${server.host} answers ${httpStatus}; its certificate is by ${issuer}, ` +
      (daysLeft < 0 ? `and ended ${-daysLeft} days ago` : `with ${daysLeft} days left`)
    if (distrust !== null) return failed(`${said}; browsers do not trust it: ${distrust}`)
    return (httpStatus < 500 ? passed : failed)(said)
  })

/**
 * Follows the way of a request to a declared application: the platform says that it runs, its port takes connections,
 * the proxy file leads its domain there, and HTTPS on the domain answers. Every hop is walked, whatever the others say.
 */
export const verify = Effect.fn("verify")(function*(request: AppRequest) {
  const undeclared = ({ message }: { readonly message: string }) => new NotVerifiable({ reason: message })
  const plan = yield* Effect.catchTags(readPlan(request), {
    NoPlatformFile: undeclared,
    AppNotDeclared: undeclared,
    DomainWithoutPort: undeclared
  })
  const hops: ReadonlyArray<Hop> = yield* Effect.all([
    walk("application", application(plan)),
    walk("port", port(plan)),
    walk("route", route(plan)),
    walk("https", https(plan))
  ], { concurrency: "unbounded" })
  return { hops, failing: hops.find(({ ok }) => !ok)?.hop ?? null } satisfies Verification
})
