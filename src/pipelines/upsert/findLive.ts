import { Effect, Option } from "effect"
import type { PlatformFailure, PlatformRecord } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Platform } from "../../services/platform/Platform.ts"
import { findApplication } from "../applications.ts"
import type { AppPlan } from "../appPlan.ts"
import { updateFields } from "./changes.ts"

/** Upsert step 3: the full record of the application as it is; nothing when it has to be created. */
export const findLive = Effect.fn("findLive")(function*(
  plan: AppPlan
): Effect.fn.Return<Option.Option<PlatformRecord>, PlatformFailure | SettingsError, Platform> {
  const platform = yield* Platform
  const found = yield* findApplication(plan.name)
  return Option.isNone(found)
    ? Option.none()
    : Option.some(yield* platform.application(found.value.uuid, updateFields(plan)))
})
