import { Data, Option } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import { Disclosed } from "../../schema/Disclosed.ts"
import type { AppEnv } from "../../schema/PlatformApp.ts"
import { servingFields } from "../applications/fields.ts"
import { hostPortKey, hostPortOf } from "../applications/hostPort.ts"

/** What has to happen to an application's port. `old` is null where the variable has no value. */
export type HostPortAction = Data.TaggedEnum<{
  Keep: {}
  Create: {}
  Change: { readonly env: AppEnv; readonly old: string | null }
  /** It may be right or wrong: nothing may be overwritten blindly. */
  Stop: { readonly reason: string }
}>
export const HostPortAction = Data.taggedEnum<HostPortAction>()

/** Decides from an application's environment variables what makes its port `port`. */
export const hostPortAction = (envs: ReadonlyArray<AppEnv>, port: number): HostPortAction =>
  Option.match(hostPortOf(envs), {
    onNone: () => HostPortAction.Create(),
    onSome: (env) =>
      Disclosed.$match(env.value, {
        Known: ({ value }) =>
          value === String(port) ? HostPortAction.Keep() : HostPortAction.Change({ env, old: value }),
        Absent: () => HostPortAction.Change({ env, old: null }),
        Hidden: ({ reason }) => HostPortAction.Stop({ reason })
      })
  })

/** What an action makes of the port, when it makes anything of it. */
export const hostPortChange = (action: HostPortAction, port: number): Option.Option<Change> => {
  const changed = (old: string | null) =>
    Option.some({ field: hostPortKey, label: servingFields.port.label, old, new: String(port) })
  return HostPortAction.$match(action, {
    Keep: () => Option.none(),
    Create: () => changed(null),
    Change: ({ old }) => changed(old),
    Stop: () => Option.none()
  })
}
