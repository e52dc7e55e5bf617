import { Effect, Option } from "effect"
import { counted } from "../../services/runs/counted.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { type HttpsAnswer, HttpsProbe } from "../../services/tls/HttpsProbe.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { targetOf } from "../routes/block.ts"
import { proxyServer } from "../routes/proxyHome.ts"
import { findTarget } from "../upsert/findTarget.ts"
import { failed, passed } from "./hop.ts"

const usualPort = 443
/** Proxies renew a certificate when this many days are left. */
const renewalDays = 30

/** Where the domain is served: at the proxy's server, or at the platform's own host for what runs there. */
const servedAt = (plan: AppPlan) =>
  Effect.gen(function*() {
    const target = Option.isSome(plan.server) ? yield* Effect.option(findTarget(plan)) : Option.none()
    const local = Option.flatMap(target, ({ ip, local }) => local ? ip : Option.none())
    return Option.isSome(local) ? local.value : (yield* proxyServer).host
  })

const lifeOf = ({ daysLeft, issuer }: HttpsAnswer): string =>
  `its certificate is by ${issuer}, ` +
  (daysLeft < 0 ? `and ended ${counted(-daysLeft, "day")} ago` : `with ${counted(daysLeft, "day")} left`)

const warningOf = ({ daysLeft, httpStatus }: HttpsAnswer): string | undefined =>
  [
    ...(daysLeft < renewalDays
      ? [`The certificate ends in ${counted(daysLeft, "day")}: make sure that the proxy renews it`]
      : []),
    ...(httpStatus === 404 ? ["404 is also what a proxy answers for a domain that none of its routers is for"] : [])
  ].join("; ") || undefined

/** Whether the domain answers over HTTPS, sent to the proxy itself, with a certificate that browsers trust. */
export const https = (plan: AppPlan) =>
  Effect.gen(function*() {
    if (Option.isNone(plan.domain)) return passed("No domain is declared")
    const domain = plan.domain.value
    const address = yield* servedAt(plan)
    const port = yield* (yield* Settings).get("proxy.httpsPort")
    const place = port === usualPort ? address : targetOf({ targetIp: address, port })
    const answer = yield* Effect.either((yield* HttpsProbe).ask({ address, port, domain }))
    if (answer._tag === "Left") return failed(`https://${domain} does not answer at ${place}: ${answer.left.message}`)
    const { distrust, httpStatus } = answer.right
    const said = `https://${domain} at ${place} answers ${httpStatus}; ${lifeOf(answer.right)}`
    if (distrust !== null) return failed(`${said}; browsers do not trust it: ${distrust}`)
    return httpStatus < 500 ? passed(said, warningOf(answer.right)) : failed(said)
  })
