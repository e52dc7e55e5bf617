import { Array, Effect, Option } from "effect"
import type { PlatformFailure, PlatformRecord } from "../../../schema/applications/PlatformApp.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { buildUpdateFields } from "../../applications/changes.ts"
import { findNamesakes } from "./routeName.ts"

/** State of the platform before an upsert changes anything. */
export interface LiveState {
  /** Full record of the application; none if it has to be created. */
  readonly app: Option.Option<PlatformRecord>
  /** Other applications whose routes have the same name. */
  readonly namesakes: ReadonlyArray<string>
}

/** Values whose spelling the record adopts if the platform means the same. A stack may have several addresses. */
export const buildUpsertValues = (plan: AppPlan) => ({
  ...buildUpdateFields(plan),
  ...(plan.buildPack === "composestack" && Option.isSome(plan.domain) ? { fqdn: `https://${plan.domain.value}` } : {})
})

/** Upsert step 3: looks the application up. */
export const findLive = Effect.fn("findLive")(function*(
  plan: AppPlan
): Effect.fn.Return<LiveState, PlatformFailure | SettingsError, Platform> {
  const platform = yield* Platform
  const apps = yield* platform.applications
  const found = Array.findFirst(apps, ({ name }) => name === plan.name)
  const app = yield* Effect.transposeMapOption(found, ({ uuid }) => platform.application(uuid, buildUpsertValues(plan)))
  return { app, namesakes: findNamesakes(plan.name, apps) }
})
