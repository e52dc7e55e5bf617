import { Array, type Data, Effect, Option, Schema } from "effect"
import { type PlatformFailure, PlatformUnavailable } from "../../../schema/applications/PlatformApp.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import type { Settings } from "../../../services/settings/Settings.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { followUpFields } from "../../applications/changes.ts"
import type { PlatformTarget } from "../inputs/target.ts"
import { decideRecord, RecordAction } from "./decideRecord.ts"

const uuidIn = Schema.decodeUnknown(Schema.Struct({ uuid: Schema.NonEmptyString }))

const create = ({ fields, followUp }: Data.TaggedEnum.Value<RecordAction, "Create">) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const { uuid } = yield* Effect.mapError(
      Effect.flatMap(platform.createApplication(fields), (created) => uuidIn(created)),
      (error) =>
        error._tag === "ParseError"
          ? new PlatformUnavailable({
            call: "creating the application",
            reason: "it was created, but the answer names no uuid: run the upsert again"
          })
          : error
    )
    if (Option.isSome(followUp)) yield* platform.updateApplication(uuid, followUp.value)
    return uuid
  })

/** Finds an application that an interrupted attempt has created. */
const createdBefore = (plan: AppPlan) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    const found = Array.findFirst(yield* platform.applications, ({ name }) => name === plan.name)
    const followUp = followUpFields(plan)
    if (Option.isSome(found) && Option.isSome(followUp)) {
      yield* platform.updateApplication(found.value.uuid, followUp.value)
    }
    return Option.map(found, ({ uuid }) => uuid)
  })

/**
 * Upsert step 5: creates the application, or updates it as planned even without differences. Returns its uuid.
 * @param found uuid of the application, if it existed before
 * @param isRepeated true if an earlier attempt may have created it since
 * @param planned an earlier decision; without one, it is decided now
 */
export const applyRecord = Effect.fn("applyRecord")(function*(
  plan: AppPlan,
  target: PlatformTarget,
  found: Option.Option<string>,
  isRepeated: boolean,
  planned: Option.Option<RecordAction>
): Effect.fn.Return<string, PlatformFailure | SettingsError, Platform | Settings> {
  const platform = yield* Platform
  const created = isRepeated && Option.isNone(found) ? yield* createdBefore(plan) : Option.none<string>()
  if (Option.isSome(created)) return created.value
  return yield* RecordAction.$match(Option.isSome(planned) ? planned.value : yield* decideRecord(plan, target, found), {
    Create: (action) => create(action),
    Update: ({ fields, uuid }) => Effect.as(platform.updateApplication(uuid, fields), uuid)
  })
})
