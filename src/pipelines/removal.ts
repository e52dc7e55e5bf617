import type { Path } from "@effect/platform"
import { Array, Data, Effect, Either, Option, Order } from "effect"
import {
  Disclosed,
  type PlatformFailure,
  type PlatformRecord,
  PlatformRefused,
  type Removal,
  type RemovalRequest,
  type Removed
} from "../schema/applications.ts"
import { platformFileName } from "../schema/projects.ts"
import { type ChangelogEntry, PlanMoved } from "../schema/upsert.ts"
import type { Repository } from "../schema/webhooks.ts"
import { quoteInput } from "../schema/words.ts"
import { GitHost } from "../services/githost.ts"
import type { LocalFiles } from "../services/local/LocalFiles.ts"
import { type FileLocked, Locks, makeApplicationLock } from "../services/locks/Locks.ts"
import { Platform } from "../services/platform/Platform.ts"
import { uncancellable } from "../services/runs/Steps.ts"
import { keyedDigest, scrubSecrets, Settings, type SettingsError } from "../services/settings/Settings.ts"
import type { Ssh } from "../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../services/upstream/Upstream.ts"
import { findHostPort } from "./applications/applications.ts"
import { findRecordedApplication } from "./applications/changelog.ts"
import { makeUnplacedSource, planEntry, readDeclaredEntry } from "./applications/platformFile.ts"
import { changedFacts, computePlanHash, type FactKinds, type Facts } from "./planHash.ts"
import { listProjectDirectories } from "./projects/projects.ts"
import { deleteRoute } from "./routes/editRoutes.ts"
import { toRouteName } from "./routes/ownRoute.ts"
import { type EditFailure, editProxyFile, type EditServices } from "./routes/proxyFile.ts"
import { readProxy, RouteEdit } from "./routes/proxyText.ts"
import { type FoundRoute, readRoutes } from "./routes/queryProxy.ts"
import { listRoutes } from "./routes/routes.ts"
import { isSameRepository, readRecordedRepository, removeHooks, withUrl } from "./webhooks/hooks.ts"

/** An application to remove: present on the platform, or missing there but recorded in the changelog of its project. */
interface Removable {
  readonly uuid: string
  readonly name: string
  /** False if the application is missing on the platform. */
  readonly live: boolean
  /** Port of its route, if known. */
  readonly port: Option.Option<string>
  readonly repository: Effect.Effect<Option.Option<Repository>, SettingsError, Settings>
}

const liveApplication = (record: PlatformRecord) =>
  Effect.gen(function*(): Effect.fn.Return<Removable, never, Platform> {
    const { name, uuid } = record
    const envs = yield* Effect.option((yield* Platform).envs(uuid))
    const port = Option.flatMap(
      Option.flatMap(envs, findHostPort),
      ({ value }) => Disclosed.$is("Known")(value) ? Option.some(value.value) : Option.none()
    )
    return { uuid, name, live: true, port, repository: readRecordedRepository(record) }
  })

const byTime = Order.mapInput(Order.string, ({ timestamp }: ChangelogEntry) => timestamp)

/** Finds an application that is missing on the platform, by uuid or name, in the changelogs of the local projects. */
const goneApplication = (given: string) =>
  Effect.gen(function*() {
    const places = yield* Effect.orElseSucceed(listProjectDirectories(), () => [])
    const found = yield* Effect.forEach(places, ({ path }) =>
      Effect.map(findRecordedApplication(path, given), Option.map((entry) => ({ ...entry, path }))))
    const recorded = Array.getSomes(found)
    if (!Array.isNonEmptyArray(recorded)) {
      return Option.none()
    }
    const { appName: name, configSnapshot, path, uuid } = Array.max(recorded, byTime)
    const plan = yield* readDeclaredEntry(makeUnplacedSource(platformFileName))(configSnapshot, 0).pipe(
      Effect.flatMap((declared) =>
        planEntry(path, declared)
      ),
      Effect.option
    )
    return Option.some({
      uuid,
      name,
      live: false,
      port: Option.map(Option.flatMap(plan, ({ port }) => port), String),
      repository: Effect.succeed(Option.map(plan, ({ repository }) => repository))
    })
  })

/** True if the error means that the platform does not have the application. */
const isMissing = (error: PlatformFailure | SettingsError) => error instanceof PlatformRefused && error.upstream === 404

/** Finds an application to remove. One that is missing on the platform may still have a route and webhooks. */
const findRemovable = (
  uuid: string
): Effect.Effect<Removable, PlatformFailure | SettingsError, LocalFiles | Path.Path | Platform | Settings> =>
  Effect.flatMap(Platform, (platform) => platform.application(uuid)).pipe(
    Effect.flatMap(liveApplication),
    Effect.catchIf(
      isMissing,
      (missing) =>
        Effect.flatMap(
          goneApplication(uuid),
          Option.match({ onNone: () => Effect.fail(missing), onSome: Effect.succeed })
        )
    )
  )

type Applications = ReadonlyArray<PlatformRecord>

const names = (all: Applications) => all.map(({ name }) => quoteInput(name)).join(", ")

// Compared by uuid, because two applications of the platform may have the same name.
const othersThan = ({ uuid }: Removable, apps: Applications) => apps.filter((other) => other.uuid !== uuid)

/** Describes the domains and targets of a route, so that a later change can be detected. */
const describeRouteDomains = ({ domains, targets }: Pick<FoundRoute, "domains" | "targets">): string =>
  `${domains.join(", ")} to ${targets.map((target) => `http://${target}`).join(", ")}`

/**
 * Route of an application: has its name, and is either declared for it by a local project or was written by Berth for
 * its port. Excludes a route that another application may own.
 */
const findOwnRoute = (app: Removable, apps: Applications) =>
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
const findOwnHooks = (app: Removable, apps: Applications) =>
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

const removalFacts: FactKinds = {
  labels: { application: "the application", route: "its route", hooks: "the list of its webhooks" },
  isImplied: () => false
}

const factsOf = ({ hooks, live, name, route, uuid }: RemovalParts): Facts => ({
  application: { value: [uuid, name, live], now: live ? name : `${name}, which the platform no longer has` },
  route: { value: route, now: route === null ? "none of its own" : `${route.routeName} (${route.way})` },
  hooks: { value: hooks, now: hooks.map(({ id, repository }) => `${id} of ${repository}`).join(", ") || "none" }
})

/** Parts of an application, without the plan hash. */
type RemovalParts = Omit<Removal, "planHash">
type PlanServices = GitHost | LocalFiles | Path.Path | Platform | Settings | Ssh

const decideRemoval = Effect.fn("decideRemoval")(function*(
  uuid: string
): Effect.fn.Return<RemovalParts, PlatformFailure | SettingsError, PlanServices> {
  const platform = yield* Platform
  const app = yield* findRemovable(uuid)
  const apps = yield* platform.applications
  const [{ route, stays: routeStays }, { hooks, stays: hooksStay }] = yield* Effect.all([
    findOwnRoute(app, apps),
    findOwnHooks(app, apps)
  ], { concurrency: 2 })
  const stays = yield* Effect.forEach([...routeStays, ...hooksStay], (words) => scrubSecrets(words))
  return { uuid: app.uuid, name: app.name, live: app.live, route, hooks, stays }
}, withAnswerBudget)

/** Plans a removal: the application, its route and its webhooks. Read-only. */
export const planRemoval = Effect.fn("planRemoval")(function*(
  uuid: string
): Effect.fn.Return<Removal, PlatformFailure | SettingsError, PlanServices> {
  const parts = yield* decideRemoval(uuid)
  return { planHash: computePlanHash(removalFacts, factsOf(parts), yield* keyedDigest), ...parts }
})

/** Decides a removal again; fails if it no longer matches the plan with this hash. */
const checkRemoval = Effect.fn("checkRemoval")(function*(
  uuid: string,
  hash: string | null
): Effect.fn.Return<RemovalParts, PlanMoved | PlatformFailure | SettingsError, PlanServices> {
  const parts = yield* decideRemoval(uuid)
  if (hash === null) return parts
  const moved = changedFacts(removalFacts, hash, factsOf(parts), yield* keyedDigest)
  if (moved.length === 0) return parts
  const words = yield* Effect.forEach(moved, (each) => scrubSecrets(each))
  return yield* new PlanMoved({ appName: parts.name, moved: words })
})

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
