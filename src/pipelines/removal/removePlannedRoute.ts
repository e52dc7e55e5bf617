import { Data, Effect, Either } from "effect"
import type { Removal } from "../../schema/applications/Removal.ts"
import { removeRoute } from "../routes/edit.ts"
import { type EditFailure, editProxyFile, type EditServices } from "../routes/editProxyFile.ts"
import { listedRoutes } from "../routes/listedRoutes.ts"
import { readProxy } from "../routes/proxyText.ts"
import { RouteEdit } from "../routes/RouteEdit.ts"
import { describeRoute } from "./ownParts.ts"

/** A route leads elsewhere than it did when its removal was planned. */
class RouteMoved extends Data.TaggedError("RouteMoved")<{ readonly now: string }> {
  override get message() {
    return `it leads from ${this.now} now, and was not removed`
  }
}

/** Removes a route from the proxy file while it leads where the plan says. */
export const removePlannedRoute = (
  { routeName, way }: NonNullable<Removal["route"]>
): Effect.Effect<void, RouteMoved | EditFailure, EditServices> =>
  Effect.gen(function*() {
    const done = yield* editProxyFile((text) =>
      Either.gen(function*() {
        const now = listedRoutes(yield* readProxy(text)).find((route) => route.routeName === routeName)
        return now === undefined || describeRoute(now) === way
          ? yield* removeRoute(text, routeName)
          : RouteEdit.Unchanged({ reason: "routed_elsewhere", warnings: [describeRoute(now)] })
      })
    )
    if (RouteEdit.$is("Unchanged")(done) && done.reason === "routed_elsewhere") {
      return yield* new RouteMoved({ now: done.warnings.join("; ") })
    }
  })
