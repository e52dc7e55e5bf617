import type { Path } from "@effect/platform"
import { Effect, Option, Ref } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import type { PlatformFailure } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { DomainWithoutPort, StepMoved, TargetUnusable } from "../../schema/Upsert.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { ensureRoute } from "../routes/edit.ts"
import { type EditFailure, editProxyFile, type EditServices } from "../routes/editProxyFile.ts"
import { RouteEdit } from "../routes/RouteEdit.ts"
import type { Agreed } from "./agreed.ts"
import { type DomainHistory, type RouteDecision, routeWords, wantedRoute } from "./decideRoute.ts"
import { doneBefore, type Intent } from "./intent.ts"
import { clearsDomains } from "./proxyRoute.ts"
import { routeChange, wayOf } from "./routeHistory.ts"

/** What became of the domain: in words, and as a change when the proxy file was changed. */
export interface Routed {
  readonly detail: string
  readonly change: Option.Option<Change>
}

const warned = (detail: string, warnings: ReadonlyArray<string>) =>
  warnings.length === 0 ? detail : `${detail}; warning: ${warnings.join("; ")}`

/** What the domain of an application is brought to, and what else the upsert knows of it. */
export interface DomainRoute extends DomainHistory {
  readonly uuid: string
  /** What was decided before; where nothing was, the changelog and the proxy file are read now. */
  readonly planned: Option.Option<RouteDecision>
  readonly agreed: Agreed
  readonly intent: Intent
}

const routeInProxy = (wanted: DomainRoute) =>
  Effect.gen(function*() {
    const { agreed, domain, intent, planned } = wanted
    const proxyRoute = Option.isSome(planned) ? planned.value : yield* wantedRoute(wanted)
    const { owner, route } = proxyRoute
    const first = yield* Ref.make(Option.none<Option.Option<Change>>())
    const edit = yield* editProxyFile((text) => ensureRoute(text, route, owner), {
      before: Option.map(planned, ({ before }) => before),
      // The file may be read and edited again, when somebody else has written it meanwhile.
      agreed: (now) =>
        Effect.zipRight(
          agreed(routeWords(now, proxyRoute)),
          Effect.whenEffect(
            Effect.flatMap(
              intent(RouteEdit.$is("Edited")(now) ? Option.some(routeChange(route)) : Option.none()),
              (change) => Ref.set(first, Option.some(change))
            ),
            Effect.map(Ref.get(first), Option.isNone)
          )
        )
    })
    const made = Option.flatten(yield* Ref.get(first))
    return RouteEdit.$match(edit, {
      Unchanged: ({ warnings }): Routed => ({
        detail: warned(
          Option.match(made, { onNone: () => `${domain} is in the proxy file already`, onSome: doneBefore }),
          warnings
        ),
        change: made
      }),
      Edited: ({ change, warnings }) => ({
        detail: warned(`route ${route.routeName} ${change}: ${wayOf(route)}`, warnings),
        change: Option.some(routeChange(route))
      })
    })
  })

/**
 * Upsert step 7: makes the domain lead to the application. The platform itself serves what runs on its own host; for
 * any other server the proxy file gets a route to its address and port.
 */
export const routeDomain = Effect.fn("routeDomain")(function*(
  route: DomainRoute
): Effect.fn.Return<
  Routed,
  PlatformFailure | SettingsError | DomainWithoutPort | StepMoved | TargetUnusable | EditFailure,
  LocalFiles | Path.Path | Platform | EditServices
> {
  const platform = yield* Platform
  const { domain, plan, target, uuid } = route
  if (target.local) {
    const url = `https://${domain}`
    yield* platform.setDomain({ uuid, buildPack: plan.buildPack }, url, Option.getOrUndefined(plan.service))
    return { detail: `the platform serves ${url}`, change: Option.none() }
  }
  // The platform's own address would compete with the route; one that cannot be taken away does no harm.
  if (clearsDomains(plan, target)) yield* Effect.ignore(platform.clearDomains(uuid))
  return yield* routeInProxy(route)
})
