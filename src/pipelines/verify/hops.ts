import { Effect, Option, Predicate } from "effect"
import { portOpenCommand, portOpenExit } from "../../remote/server/portOpenCommand.ts"
import { quoted } from "../../schema/words/quoted.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { findApplication } from "../applications/applications.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { proxyServer } from "../routes/proxyLocation.ts"
import { targetOf } from "../routes/routeLines.ts"
import { findTarget } from "../upsert/inputs/findTarget.ts"
import { failed, passed } from "./hop.ts"

/** Checks that the platform reports the application as running. */
export const application = ({ name }: AppPlan) =>
  Effect.gen(function*() {
    const found = yield* findApplication(name)
    if (Option.isNone(found)) return failed(`The platform has no application named ${quoted(name)}`)
    const { raw } = yield* (yield* Platform).application(found.value.uuid)
    const status = raw["status"]
    if (!Predicate.isString(status) || status === "") return failed("The platform does not say whether it runs")
    if (!/^running\b/.test(status)) return failed(`The platform says: ${status}`)
    return passed(
      `The platform says: ${status}`,
      /\bunhealthy\b/.test(status) ? "Its health check fails, or it has none" : undefined
    )
  })

/** Checks that the application's port accepts connections from the proxy's server. */
export const port = (plan: AppPlan) =>
  Effect.gen(function*() {
    const { ip } = yield* findTarget(plan)
    if (Option.isNone(plan.port)) return passed("No port is declared")
    if (Option.isNone(ip)) return failed("The address of its server is not known: set proxy.targetIp")
    const server = yield* proxyServer
    const { code, stderr } = yield* (yield* Ssh).exec(server, portOpenCommand(ip.value, plan.port.value), {
      timeout: "12 seconds"
    })
    const way = `${targetOf({ targetIp: ip.value, port: plan.port.value })}, seen from "${server.name}",`
    if (code === portOpenExit.open) return passed(`${way} takes connections`)
    if (code === portOpenExit.closed) return failed(`${way} does not accept connections`)
    return failed(
      code === portOpenExit.untold
        ? `Whether ${way} takes connections cannot be told: "${server.name}" has neither nc nor bash nor curl`
        : `Whether ${way} takes connections cannot be told: ${stderr.trim().slice(-300)}`
    )
  })
