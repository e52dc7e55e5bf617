import { Effect, Option } from "effect"
import { pluralize } from "../../schema/words/pluralize.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { type HttpsAnswer, HttpsProbe } from "../../services/tls/HttpsProbe.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { proxyServer } from "../routes/proxyLocation.ts"
import { formatTarget } from "../routes/routeLines.ts"
import { findPlatformTarget } from "../upsert/inputs/findPlatformTarget.ts"
import { makeFailedOutcome, makePassedOutcome } from "./hop.ts"

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
