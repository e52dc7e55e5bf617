import { Effect, Option } from "effect"
import type { PlatformRecord } from "../../schema/applications/PlatformApp.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { listRoutes } from "../routes/listRoutes.ts"
import type { FoundRoute } from "../routes/readRoutes.ts"
import { toRouteName } from "../upsert/inputs/routeName.ts"
import { withUrl } from "../webhooks/pushHook.ts"
import { isSameRepository, readRecordedRepository } from "../webhooks/recordedRepository.ts"
import type { Removable } from "./findRemovable.ts"

type Applications = ReadonlyArray<PlatformRecord>

const names = (all: Applications) => all.map(({ name }) => quoteInput(name)).join(", ")

// Compared by uuid, because two applications of the platform may have the same name.
const othersThan = ({ uuid }: Removable, apps: Applications) => apps.filter((other) => other.uuid !== uuid)

/** Describes the domains and targets of a route, so that a later change can be detected. */
export const describeRouteDomains = ({ domains, targets }: Pick<FoundRoute, "domains" | "targets">): string =>
  `${domains.join(", ")} to ${targets.map((target) => `http://${target}`).join(", ")}`

/**
 * Route of an application: has its name, and is either declared for it by a local project or was written by Berth for
 * its port. Excludes a route that another application may own.
 */
export const findOwnRoute = (app: Removable, apps: Applications) =>
  Effect.gen(function*() {
    if (Option.isNone(yield* (yield* Settings).find("proxy.configFile"))) return { route: null, stays: [] }
    const { routes } = yield* listRoutes
    const routeName = toRouteName(app.name)
    const route = routes.find((each) => each.routeName === routeName)
    if (route === undefined) return { route: null, stays: [] }
    const way = describeRouteDomains(route)
    const isItsPort = route.madeBy === "berth" &&
      Option.exists(app.port, (port) => route.targets.every((target) => target.endsWith(`:${port}`)))
    const sharing = othersThan(app, apps).filter(({ name }) => toRouteName(name) === routeName)
    const isOwn = sharing.length === 0 &&
      (isItsPort || route.applications.some(({ appName }) => appName === app.name))
    if (isOwn) return { route: { routeName, way }, stays: [] }
    const why = sharing.length === 0
      ? "nothing tells that it is this application's"
      : `it may belong to ${names(sharing)}`
    return { route: null, stays: [`the route ${routeName} (${way}): ${why}`] }
  }).pipe(
    Effect.catchAll(({ message }) => Effect.succeed({ route: null, stays: [`its route, if it has one: ${message}`] }))
  )

/** The webhooks of an application's repository, unless another application of the repository uses them. */
export const findOwnHooks = (app: Removable, apps: Applications) =>
  Effect.gen(function*() {
    const gitHost = yield* (yield* Settings).find("gitHost.url")
    if (Option.isNone(gitHost)) return { hooks: [], stays: [] }
    const found = yield* app.repository
    if (Option.isNone(found)) return { hooks: [], stays: [] }
    const repository = found.value
    const url = yield* (yield* Platform).webhookUrlOf(app.uuid)
    const hooks = withUrl(yield* (yield* GitHost).hooks(repository), url).map(({ id }) => ({
      id,
      repository: `${repository.owner}/${repository.name}`
    }))
    const sharing = yield* Effect.filter(othersThan(app, apps), (other) =>
      Effect.map(readRecordedRepository(other), Option.exists((its) => isSameRepository(its, repository))))
    return sharing.length === 0 ? { hooks, stays: [] } : {
      hooks: [],
      stays: hooks.map((hook) =>
        `the webhook ${hook.id} of ${hook.repository}: ${names(sharing)} uses it too`
      )
    }
  }).pipe(
    Effect.catchAll(({ message }) => Effect.succeed({ hooks: [], stays: [`its webhook, if it has one: ${message}`] }))
  )
