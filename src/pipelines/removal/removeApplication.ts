import type { Path } from "@effect/platform"
import { Data, Effect, Either, Option } from "effect"
import type { PlatformFailure } from "../../schema/applications/PlatformApp.ts"
import type { PlanMoved } from "../../schema/applications/PlatformPlan.ts"
import type { Removal, RemovalRequest, Removed } from "../../schema/applications/Removal.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { makeApplicationLock } from "../../services/locks/LockKey.ts"
import { type FileLocked, Locks } from "../../services/locks/Locks.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { uncancellable } from "../../services/runs/uncancellable.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { type EditFailure, editProxyFile, type EditServices } from "../routes/editProxyFile.ts"
import { deleteRoute } from "../routes/editRoutes.ts"
import { readProxy } from "../routes/proxyText.ts"
import { readRoutes } from "../routes/readRoutes.ts"
import { RouteEdit } from "../routes/RouteEdit.ts"
import { removeHooks } from "../webhooks/pushHook.ts"
import { findRemovable, isMissing } from "./findRemovable.ts"
import { describeRouteDomains } from "./ownParts.ts"
import { checkRemoval, type RemovalParts } from "./planRemoval.ts"

/** The target of a route has changed since its removal was planned. */
class RouteMoved extends Data.TaggedError("RouteMoved")<{ readonly now: string }> {
  override get message() {
    return `it leads from ${this.now} now, and was not removed`
  }
}

/** Removes a route from the proxy file if its target is still the planned one. */
const removePlannedRoute = (
  { routeName, way }: NonNullable<Removal["route"]>
): Effect.Effect<void, RouteMoved | EditFailure, EditServices> =>
  Effect.gen(function*() {
    const done = yield* editProxyFile((text) =>
      Either.gen(function*() {
        const now = readRoutes(yield* readProxy(text)).find((route) => route.routeName === routeName)
        return now === undefined || describeRouteDomains(now) === way
          ? yield* deleteRoute(text, routeName)
          : RouteEdit.Unchanged({ reason: "routed_elsewhere", warnings: [describeRouteDomains(now)] })
      })
    )
    if (RouteEdit.$is("Unchanged")(done) && done.reason === "routed_elsewhere") {
      return yield* new RouteMoved({ now: done.warnings.join("; ") })
    }
  })

/** Deletes the planned webhooks; keeps others with the same address. */
const removePlannedHooks = ({ hooks, uuid }: RemovalParts) =>
  Effect.gen(function*() {
    const [owner, name] = hooks[0]?.repository.split("/") ?? []
    if (owner === undefined || name === undefined) return
    const url = yield* (yield* Platform).webhookUrlOf(uuid)
    yield* removeHooks({ owner, name }, url, hooks.map(({ id }) => id))
  })

const deleteIfLive = ({ live, uuid }: RemovalParts) =>
  Effect.gen(function*() {
    if (!live) return
    yield* (yield* Platform).deleteApplication(uuid).pipe(
      // Another client has deleted it since it was read.
      Effect.catchIf(isMissing, () => Effect.void)
    )
  })

/** Removes the planned parts, and reports those that could not be removed. */
const removeParts = (planned: RemovalParts, keepRoute: boolean) =>
  Effect.gen(function*() {
    const { hooks, live, name, route, stays, uuid } = planned
    yield* deleteIfLive(planned)
    const stayed = <E extends { readonly message: string }, R>(what: string, removal: Effect.Effect<unknown, E, R>) =>
      Effect.flatMap(
        Effect.either(removal),
        Either.match({
          onLeft: ({ message }) => Effect.map(scrubSecrets(`${what}: ${message}`), (words) => [words]),
          onRight: () => Effect.succeed<ReadonlyArray<string>>([])
        })
      )
    const routeFailures = route === null || keepRoute
      ? []
      : yield* stayed(`the route ${route.routeName}`, removePlannedRoute(route))
    const hookFailures = yield* stayed(`the webhook of ${hooks[0]?.repository}`, removePlannedHooks(planned))
    return {
      success: routeFailures.length + hookFailures.length === 0,
      uuid,
      name,
      live,
      route: keepRoute || routeFailures.length > 0 ? null : route,
      hooks: hookFailures.length > 0 ? [] : hooks,
      stays: [
        ...stays,
        ...(keepRoute && route !== null ? [`the route ${route.routeName} (${route.way}): kept, as asked for`] : []),
        ...routeFailures,
        ...hookFailures
      ]
    } satisfies Removed
  })

/**
 * Removes an application first, then its route and webhooks, so that a live application keeps its route. Waits for an
 * upsert of the application and cannot be interrupted once started. Running it again removes what an earlier removal
 * left behind.
 */
export const removeApplication = Effect.fn("removeApplication")(function*(
  uuid: string,
  { keepRoute = false, planHash = null }: RemovalRequest
): Effect.fn.Return<
  Removed,
  PlanMoved | PlatformFailure | SettingsError | FileLocked,
  GitHost | LocalFiles | Path.Path | Platform | EditServices
> {
  const locks = yield* Locks
  const settings = yield* Settings
  const { name } = yield* findRemovable(uuid)
  const platformUrl = yield* Effect.orElseSucceed(settings.find("platform.url"), () => Option.none<string>())
  return yield* checkRemoval(uuid, planHash).pipe(
    Effect.flatMap((planned) => uncancellable(removeParts(planned, keepRoute))),
    locks.withLock(makeApplicationLock(Option.getOrElse(platformUrl, () => ""), name))
  )
})
