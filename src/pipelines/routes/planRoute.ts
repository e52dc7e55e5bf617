import { Clock, Effect } from "effect"
import { RouteInvalid } from "../../schema/routes/Route.ts"
import type { RoutePlan, RoutePlanRequest } from "../../schema/routes/RoutePlan.ts"
import { computeFilePatch } from "../../services/parsing/computeFilePatch.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { bridgePorts } from "../../services/settings/bridgePorts.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { refuseIfBridged } from "./balancers.ts"
import { type PreviewFailure, previewProxyEdit } from "./editProxyFile.ts"
import * as edit from "./editRoutes.ts"
import { targetAddress } from "./proxyLocation.ts"

/** Requested edit as a function of the file's text. */
const decision = ({ action, domain, port, routeName }: RoutePlanRequest) =>
  Effect.gen(function*() {
    if (action === "remove") {
      return domain === undefined && port === undefined
        ? (text: string) => edit.deleteRoute(text, routeName)
        : yield* new RouteInvalid({ reason: "A route is removed by its name: leave out domain and port" })
    }
    if (domain === undefined || port === undefined) {
      return yield* new RouteInvalid({ reason: "routeName, domain and port are required to add a route" })
    }
    const targetIp = yield* targetAddress
    const route = { routeName, domain, port, targetIp }
    return refuseIfBridged(route, yield* bridgePorts)((text) => edit.insertRoute(text, route))
  })

const linesWith = (diff: string, sign: "+" | "-") =>
  diff.split("\n").slice(2).filter((line) => line.startsWith(sign)).length

/**
 * Previews adding or removing a route as a unified diff of the proxy file. Fails as the change itself would; changes
 * nothing.
 */
export const planRoute = Effect.fn("Routes.plan")(function*(
  request: RoutePlanRequest
): Effect.fn.Return<RoutePlan, PreviewFailure, Settings | Ssh> {
  const observedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
  const { before, edit: planned, home } = yield* previewProxyEdit(yield* decision(request))
  const { action, routeName } = request
  const place = { file: home.file, serverId: home.server.id, serverName: home.server.name }
  if (planned._tag === "Unchanged") {
    const reason = action === "add" ? "route_exists" : "route_not_found"
    return { action, routeName, ...place, changes: false, reason, diff: "", added: 0, removed: 0, observedAt }
  }
  const whole = yield* computeFilePatch(home.file, before, planned.text)
  const diff = yield* scrubSecrets(whole)
  return {
    action,
    routeName,
    ...place,
    changes: true,
    diff,
    added: linesWith(whole, "+"),
    removed: linesWith(whole, "-"),
    ...planned.warnings.length === 0 ? {} : { warning: planned.warnings.join("; ") },
    observedAt
  }
})
