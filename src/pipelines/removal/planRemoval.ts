import type { Path } from "@effect/platform"
import { Effect, Option } from "effect"
import { Disclosed } from "../../schema/Disclosed.ts"
import type { PlatformFailure, PlatformRecord } from "../../schema/PlatformApp.ts"
import { quoted } from "../../schema/quoted.ts"
import type { Removal } from "../../schema/Removal.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { withoutSecrets } from "../../services/secrets/secretsInUse.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { hostPortOf } from "../applications/hostPort.ts"
import { listRoutes } from "../routes/listRoutes.ts"
import { namesakesOf, routeNameOf } from "../upsert/routeHistory.ts"
import { withUrl } from "../webhooks/pushHook.ts"
import { repositoryNameOf } from "../webhooks/repositoryName.ts"
import { repositoryOf } from "../webhooks/repositoryOf.ts"

const names = (all: ReadonlyArray<string>) => all.map((name) => quoted(name)).join(", ")

/**
 * The route of an application: of its name, and either declared for it by a project here, or written by Berth to the
 * port that the application has. No route that another application may own.
 */
const ownRoute = (app: PlatformRecord, apps: ReadonlyArray<PlatformRecord>) =>
  Effect.gen(function*() {
    if (Option.isNone(yield* (yield* Settings).find("proxy.configFile"))) return { route: null, stays: [] }
    const { routes } = yield* listRoutes
    const route = routes.find(({ routeName }) => routeName === routeNameOf(app.name))
    if (route === undefined) return { route: null, stays: [] }
    const way = `${route.domains.join(", ")} to ${route.targets.map((target) => `http://${target}`).join(", ")}`
    const envs = yield* Effect.option((yield* Platform).envs(app.uuid))
    const port = Option.flatMap(Option.flatMap(envs, hostPortOf), ({ value }) =>
      Disclosed.$is("Known")(value) ? Option.some(value.value) : Option.none())
    const isItsPort = route.madeBy === "berth" &&
      Option.exists(port, (number) =>
        route.targets.every((target) => target.endsWith(`:${number}`)))
    const sharing = namesakesOf(app.name, apps)
    const isOwn = sharing.length === 0 &&
      (isItsPort || route.applications.some(({ appName }) => appName === app.name))
    if (isOwn) return { route: { routeName: route.routeName, way }, stays: [] }
    const why = sharing.length === 0
      ? "nothing tells that it is this application's"
      : `it may belong to ${names(sharing)}`
    return { route: null, stays: [`the route ${route.routeName} (${way}): ${why}`] }
  }).pipe(
    Effect.catchAll(({ message }) => Effect.succeed({ route: null, stays: [`its route, if it has one: ${message}`] }))
  )

/** The webhooks of an application's repository, unless another application of the repository uses them. */
const ownHooks = (app: PlatformRecord, apps: ReadonlyArray<PlatformRecord>) =>
  Effect.gen(function*() {
    const name = repositoryNameOf(app)
    const gitHost = yield* (yield* Settings).find("gitHost.url")
    if (Option.isNone(name) || Option.isNone(gitHost)) return { hooks: [], stays: [] }
    const repository = yield* repositoryOf(name.value)
    const url = yield* (yield* Platform).webhookUrlOf(app.uuid)
    const found = withUrl(yield* (yield* GitHost).hooks(repository), url)
    const hooks = found.map(({ id }) => ({ id, repository: `${repository.owner}/${repository.name}` }))
    const others = apps.filter((other) =>
      other.uuid !== app.uuid && Option.contains(repositoryNameOf(other), name.value)
    )
    return others.length === 0 ? { hooks, stays: [] } : {
      hooks: [],
      stays: hooks.map((hook) =>
        `the webhook ${hook.id} of ${hook.repository}: ${names(others.map((other) => other.name))} uses it too`
      )
    }
  }).pipe(
    Effect.catchAll(({ message }) => Effect.succeed({ hooks: [], stays: [`its webhook, if it has one: ${message}`] }))
  )

/** Tells what goes when an application goes: itself, its route and its webhooks. Changes nothing. */
export const planRemoval = Effect.fn("planRemoval")(function*(
  uuid: string
): Effect.fn.Return<
  Removal,
  PlatformFailure | SettingsError,
  GitHost | LocalFiles | Path.Path | Platform | Settings | Ssh
> {
  const platform = yield* Platform
  const app = yield* platform.application(uuid)
  const apps = yield* platform.applications
  const [{ route, stays: routeStays }, { hooks, stays: hooksStay }] = yield* Effect.all([
    ownRoute(app, apps),
    ownHooks(app, apps)
  ], { concurrency: 2 })
  const stays = yield* Effect.forEach([...routeStays, ...hooksStay], (words) => withoutSecrets(words))
  return { uuid, name: app.name, route, hooks, stays }
}, withAnswerBudget)
