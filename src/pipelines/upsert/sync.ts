import { Array, type Data, Effect, Option, Schema } from "effect"
import { type PlatformFailure, PlatformUnavailable } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import { createDefaults } from "../applications/applications.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { followUpFields } from "../applications/changes.ts"
import { createAction, SyncAction, updateAction } from "./syncAction.ts"
import type { Target } from "./target.ts"

const uuidIn = Schema.decodeUnknown(Schema.Struct({ uuid: Schema.NonEmptyString }))

/** Reads what the settings say about new applications, where one is needed, and decides upsert step 5. */
export const decideSync = (
  plan: AppPlan,
  { serverUuid }: Target,
  found: Option.Option<string>
): Effect.Effect<SyncAction, SettingsError, Settings> =>
  Option.match(found, {
    onNone: () => Effect.map(createDefaults(serverUuid), (defaults) => createAction(plan, defaults)),
    onSome: (uuid) => Effect.succeed(updateAction(plan, uuid))
  })

const create = ({ fields, followUp }: Data.TaggedEnum.Value<SyncAction, "Create">) =>
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

/** An application that an earlier attempt has created, but not lived to tell. */
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
 * Upsert step 5: creates the application, or brings it to what the plan says even where nothing differs. Answers its uuid.
 * @param found the uuid of the application, when it was there before
 * @param isRepeated whether an earlier attempt may have created it since
 * @param planned what was decided before; where nothing was, it is decided now
 */
export const sync = Effect.fn("sync")(function*(
  plan: AppPlan,
  target: Target,
  found: Option.Option<string>,
  isRepeated: boolean,
  planned: Option.Option<SyncAction>
): Effect.fn.Return<string, PlatformFailure | SettingsError, Platform | Settings> {
  const platform = yield* Platform
  const created = isRepeated && Option.isNone(found) ? yield* createdBefore(plan) : Option.none<string>()
  if (Option.isSome(created)) return created.value
  return yield* SyncAction.$match(Option.isSome(planned) ? planned.value : yield* decideSync(plan, target, found), {
    Create: (action) => create(action),
    Update: ({ fields, uuid }) => Effect.as(platform.updateApplication(uuid, fields), uuid)
  })
})
