import type { Path } from "@effect/platform"
import { Effect, Either } from "effect"
import type { PlatformFailure } from "../../schema/PlatformApp.ts"
import type { Removal, RemovalRequest, Removed } from "../../schema/Removal.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import type { EditServices } from "../routes/editProxyFile.ts"
import { removeRoute } from "../routes/routes.ts"
import { removeHooks } from "../webhooks/pushHook.ts"
import { repositoryOf } from "../webhooks/repositoryOf.ts"
import { planRemoval } from "./planRemoval.ts"

const dropHooks = ({ hooks: [hook], uuid }: Removal) =>
  Effect.gen(function*() {
    if (hook === undefined) return
    const repository = yield* repositoryOf(hook.repository.split("/").at(-1) ?? "")
    yield* removeHooks(repository, yield* (yield* Platform).webhookUrlOf(uuid))
  })

/**
 * Removes an application with its route and its webhooks. The application goes first: while it is there, so is the way
 * to it. What cannot be removed after that is told, and stays.
 */
export const removeApplication = Effect.fn("removeApplication")(function*(
  uuid: string,
  { keepRoute = false }: RemovalRequest
): Effect.fn.Return<
  Removed,
  PlatformFailure | SettingsError,
  GitHost | LocalFiles | Path.Path | Platform | EditServices
> {
  const planned = yield* planRemoval(uuid)
  const { hooks, name, route, stays } = planned
  yield* (yield* Platform).deleteApplication(uuid)

  const stayed = <E extends { readonly message: string }, R>(what: string, removal: Effect.Effect<unknown, E, R>) =>
    Effect.flatMap(
      Effect.either(removal),
      Either.match({
        onLeft: ({ message }) => Effect.map(withoutSecrets(`${what}: ${message}`), (words) => [words]),
        onRight: () => Effect.succeed<ReadonlyArray<string>>([])
      })
    )
  const routeName = route?.routeName
  const leftRoute = routeName === undefined || keepRoute
    ? []
    : yield* stayed(`the route ${routeName}`, removeRoute({ routeName }))
  const leftHooks = yield* stayed(`the webhook of ${hooks[0]?.repository}`, dropHooks(planned))
  return {
    success: leftRoute.length + leftHooks.length === 0,
    uuid,
    name,
    route: keepRoute || leftRoute.length > 0 ? null : route,
    hooks: leftHooks.length > 0 ? [] : hooks,
    stays: [
      ...stays,
      ...(keepRoute && route !== null ? [`the route ${route.routeName} (${route.way}): kept, as asked for`] : []),
      ...leftRoute,
      ...leftHooks
    ]
  }
})
