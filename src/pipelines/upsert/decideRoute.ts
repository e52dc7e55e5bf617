import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import type { DomainWithoutPort, TargetUnusable } from "../../schema/Upsert.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { recordedChanges } from "../applications/changelog.ts"
import { ensureRoute } from "../routes/edit.ts"
import { type PreviewFailure, previewProxyEdit } from "../routes/editProxyFile.ts"
import { RouteEdit } from "../routes/RouteEdit.ts"
import { noWork } from "./agreed.ts"
import { type ProxyRoute, proxyRoute, type WantedDomain } from "./proxyRoute.ts"
import { wayOf } from "./routeHistory.ts"

/** The domain of an application, and what tells which routes are its own. */
export interface DomainHistory extends WantedDomain {
  /** What this upsert makes of the port. */
  readonly portChange: Option.Option<Change>
  /** Where the changelog is. */
  readonly projectPath: string
}

/** What the proxy file held, and what a route makes of it. */
export interface RouteDecision extends ProxyRoute {
  readonly before: string
  readonly edit: RouteEdit
}

/** Decides the route of a domain, by the changelog; the proxy file is not read for it. */
export const wantedRoute = (
  wanted: DomainHistory
): Effect.Effect<ProxyRoute, DomainWithoutPort | TargetUnusable, LocalFiles | Path.Path> =>
  Effect.gen(function*() {
    const recorded = yield* recordedChanges(wanted.projectPath, wanted.plan.name)
    return yield* proxyRoute(wanted, [...recorded, ...Option.toArray(wanted.portChange)])
  })

/** Reads the proxy file and decides what the route of a domain makes of it. */
export const decideRoute = Effect.fn("decideRoute")(function*(
  wanted: ProxyRoute
): Effect.fn.Return<RouteDecision, PreviewFailure, Settings | Ssh> {
  const { before, edit } = yield* previewProxyEdit((text) => ensureRoute(text, wanted.route, wanted.owner))
  return { ...wanted, before, edit }
})

const verbs = { inserted: "insert", replaced: "replace", removed: "remove" }

/** An edit in words by which it is compared with another one. */
export const routeWords = (edit: RouteEdit, { route }: ProxyRoute): string =>
  RouteEdit.$match(edit, {
    Unchanged: () => noWork,
    Edited: ({ change }) => `${verbs[change]} the route ${route.routeName}: ${wayOf(route)}`
  })
