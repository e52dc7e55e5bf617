import type { Path } from "@effect/platform"
import { Effect } from "effect"
import type { PlatformFailure } from "../../schema/applications/PlatformApp.ts"
import { PlanMoved } from "../../schema/applications/PlatformPlan.ts"
import type { Removal } from "../../schema/applications/Removal.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { GitHost } from "../../services/githost/GitHost.ts"
import type { LocalFiles } from "../../services/local/LocalFiles.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { planHashDigest } from "../../services/secrets/planHashDigest.ts"
import { scrubSecrets } from "../../services/secrets/secretsInUse.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { withAnswerBudget } from "../../services/upstream/answerBudget.ts"
import { changedFacts } from "../plans/changedFacts.ts"
import type { FactKinds, Facts } from "../plans/Fact.ts"
import { computePlanHash } from "../plans/planHash.ts"
import { findRemovable } from "./findRemovable.ts"
import { findOwnHooks, findOwnRoute } from "./ownParts.ts"

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
export type RemovalParts = Omit<Removal, "planHash">
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
  return { planHash: computePlanHash(removalFacts, factsOf(parts), yield* planHashDigest), ...parts }
})

/** Decides a removal again; fails if it no longer matches the plan with this hash. */
export const checkRemoval = Effect.fn("checkRemoval")(function*(
  uuid: string,
  hash: string | null
): Effect.fn.Return<RemovalParts, PlanMoved | PlatformFailure | SettingsError, PlanServices> {
  const parts = yield* decideRemoval(uuid)
  if (hash === null) return parts
  const moved = changedFacts(removalFacts, hash, factsOf(parts), yield* planHashDigest)
  if (moved.length === 0) return parts
  const words = yield* Effect.forEach(moved, (each) => scrubSecrets(each))
  return yield* new PlanMoved({ appName: parts.name, moved: words })
})
