import { Array, Effect, Option } from "effect"
import type { PlatformFailure, PlatformRecord } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { updateFields } from "../applications/changes.ts"
import { namesakesOf } from "./routeHistory.ts"

/** What is on the platform before an upsert changes anything. */
export interface Live {
  /** The application's full record; nothing when it has to be created. */
  readonly app: Option.Option<PlatformRecord>
  /** Other applications whose routes go by the same name. */
  readonly namesakes: ReadonlyArray<string>
}

/** What the record is to be read in the words of; a stack's address is one of several, another application's the only one. */
export const wantedBy = (plan: AppPlan) => ({
  ...updateFields(plan),
  ...(plan.buildPack === "composestack" && Option.isSome(plan.domain) ? { fqdn: `https://${plan.domain.value}` } : {})
})

/** Upsert step 3: looks the application up. */
export const findLive = Effect.fn("findLive")(function*(
  plan: AppPlan
): Effect.fn.Return<Live, PlatformFailure | SettingsError, Platform> {
  const platform = yield* Platform
  const apps = yield* platform.applications
  const found = Array.findFirst(apps, ({ name }) => name === plan.name)
  const app = yield* Effect.transposeMapOption(found, ({ uuid }) => platform.application(uuid, wantedBy(plan)))
  return { app, namesakes: namesakesOf(plan.name, apps) }
})
