import { Data, Effect, Either, Option } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import { declaredFields } from "../../../schema/applications/declaredFields.ts"
import { hostPortKey } from "../../../schema/applications/hostPortKey.ts"
import type { AppEnv, PlatformFailure } from "../../../schema/applications/PlatformApp.ts"
import { Disclosed } from "../../../schema/basics/Disclosed.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import { findHostPort } from "../../applications/hostPort.ts"
import { noChange } from "../steps/matchesPlan.ts"

/** Action on an application's port. `old` is null if the variable has no value. */
export type HostPortAction = Data.TaggedEnum<{
  Keep: {}
  Create: {}
  Change: { readonly env: AppEnv; readonly old: string | null }
  /** The value is hidden and must not be overwritten blindly. */
  Stop: { readonly reason: string }
}>
export const HostPortAction = Data.taggedEnum<HostPortAction>()

/** Decides how to set the port variable to `port`. */
export const decideHostPortAction = (envs: ReadonlyArray<AppEnv>, port: number): HostPortAction =>
  Option.match(findHostPort(envs), {
    onNone: () => HostPortAction.Create(),
    onSome: (env) =>
      Disclosed.$match(env.value, {
        Known: ({ value }) =>
          value === String(port) ? HostPortAction.Keep() : HostPortAction.Change({ env, old: value }),
        Absent: () => HostPortAction.Change({ env, old: null }),
        Hidden: ({ reason }) => HostPortAction.Stop({ reason })
      })
  })

/** Change of the port by an action, if any. */
export const buildHostPortChange = (action: HostPortAction, port: number): Option.Option<Change> => {
  const changed = (old: string | null) =>
    Option.some({ field: hostPortKey, label: declaredFields.port.label, old, new: String(port) })
  return HostPortAction.$match(action, {
    Keep: () => Option.none(),
    Create: () => changed(null),
    Change: ({ old }) => changed(old),
    Stop: () => Option.none()
  })
}

/** Variables of an application, or the failure to read them, with the port's action. */
export interface PortDecision {
  readonly envs: Either.Either<ReadonlyArray<AppEnv>, PlatformFailure | SettingsError>
  readonly action: HostPortAction
}

/** Reads an application's variables; a new application has none. */
export const readEnvs = (uuid: Option.Option<string>) =>
  Option.match(uuid, {
    onNone: () => Effect.succeed(Either.right<ReadonlyArray<AppEnv>>([])),
    onSome: (id) => Effect.flatMap(Platform, (platform) => Effect.either(platform.envs(id)))
  })

/**
 * Reads an application's variables and decides upsert step 6; unreadable variables count as absent.
 * @param uuid none for a new application, which has no variables
 */
export const decideHostPort = Effect.fn("decideHostPort")(function*(
  uuid: Option.Option<string>,
  port: number
): Effect.fn.Return<PortDecision, never, Platform> {
  const envs = yield* readEnvs(uuid)
  return { envs, action: decideHostPortAction(Either.getOrElse(envs, () => []), port) }
})

/** Describes a decision, for comparison with a plan. */
export const describeHostPortAction = ({ action }: PortDecision, port: number): string =>
  HostPortAction.$match(action, {
    Keep: () => noChange,
    Create: () => `set ${hostPortKey} to ${port}`,
    Change: ({ old }) => `change ${hostPortKey} from ${old ?? "no value"} to ${port}`,
    Stop: () => `stop at ${hostPortKey}`
  })
