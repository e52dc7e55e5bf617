import { Effect, Option, Predicate } from "effect"
import { portOpenCommand, portOpenExit } from "../../remote/server/portOpenCommand.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Ssh } from "../../services/ssh/Ssh.ts"
import { findApplication } from "../applications/applications.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { proxyServer } from "../routes/proxyLocation.ts"
import { formatTarget } from "../routes/routeLines.ts"
import { findPlatformTarget } from "../upsert/inputs/findPlatformTarget.ts"
import { makeFailedOutcome, makePassedOutcome } from "./hop.ts"

/** Checks that the platform reports the application as running. */
export const checkApplication = ({ name }: AppPlan) =>
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
export const checkApplicationPort = (plan: AppPlan) =>
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
