import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import type { DomainWithoutPort, TargetUnusable } from "../../../schema/applications/Upsert.ts"
import type { LocalFiles } from "../../../services/local/LocalFiles.ts"
import { bridgePorts } from "../../../services/settings/bridgePorts.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { Ssh } from "../../../services/ssh/Ssh.ts"
import { readRecordedChanges } from "../../applications/changelog.ts"
import { refuseIfBridged } from "../../routes/balancers.ts"
import { type PreviewFailure, previewProxyEdit } from "../../routes/editProxyFile.ts"
import { ensureRoute } from "../../routes/editRoutes.ts"
import { RouteEdit } from "../../routes/RouteEdit.ts"
import { noChange } from "../steps/matchesPlan.ts"
import { decideProxyRoute, type ProxyRoute, type RequestedDomain } from "./proxyRoute.ts"
import { describeRouteTarget } from "./routeHistory.ts"

/** Domain of an application, with the history that identifies its own routes. */
export interface DomainHistory extends RequestedDomain {
  /** Change of the port in this upsert. */
  readonly portChange: Option.Option<Change>
  readonly projectPath: string
}

/** Text of the proxy file, with the edit for a route. */
export interface RouteDecision extends ProxyRoute {
  readonly before: string
  readonly edit: RouteEdit
}

/** Decides the route of a domain from the changelog, without reading the proxy file. */
export const decideWantedRoute = (
  wanted: DomainHistory
): Effect.Effect<ProxyRoute, DomainWithoutPort | TargetUnusable, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const recorded = yield* readRecordedChanges(wanted.projectPath, wanted.plan.name)
    return yield* decideProxyRoute(wanted, [...recorded, ...Option.toArray(wanted.portChange)])
  })

/**
 * Edit of the proxy file that routes a domain to its application, unless a bridge currently serves the route's
 * requests.
 */
export const buildRouteEdit = ({ owner, route }: ProxyRoute) =>
  Effect.map(
    bridgePorts,
    (bridges) =>
      refuseIfBridged(route, bridges, owner.formerTargets.map((target) => target.toLowerCase()))(
        (text) => ensureRoute(text, route, owner)
      )
  )

/** Reads the proxy file and decides the edit for a domain's route. */
export const decideRoute = Effect.fn("decideRoute")(function*(
  wanted: ProxyRoute
): Effect.fn.Return<RouteDecision, PreviewFailure, Settings | Ssh> {
  const { before, edit } = yield* previewProxyEdit(yield* buildRouteEdit(wanted))
  return { ...wanted, before, edit }
})

const verbs = { inserted: "insert", replaced: "replace", removed: "remove" }

/** Describes an edit, for comparison with a plan. */
export const describeRouteEdit = (edit: RouteEdit, { route }: ProxyRoute): string =>
  RouteEdit.$match(edit, {
    Unchanged: () => noChange,
    Edited: ({ change }) => `${verbs[change]} the route ${route.routeName}: ${describeRouteTarget(route)}`
  })
