import { Effect, Option } from "effect"
import type { Change } from "../../schema/Changelog.ts"
import type { AppEnv, PlatformFailure } from "../../schema/PlatformApp.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { PortHidden, type StepMoved } from "../../schema/Upsert.ts"
import { Platform } from "../../services/platform/Platform.ts"
import type { AppPlan } from "../applications/appPlan.ts"
import { hostPortKey } from "../applications/hostPort.ts"
import type { Agreed } from "./agreed.ts"
import { decideHostPort, HostPortAction, hostPortChange, hostPortWords, type PortDecision } from "./hostPortAction.ts"
import { doneBefore, type Intent } from "./intent.ts"

/** What became of the port: in words, and as a change when it is one. */
export interface HostPortSet {
  readonly detail: string
  readonly change: Option.Option<Change>
}

const unchanged = (detail: string): HostPortSet => ({ detail, change: Option.none() })

const replace = (uuid: string, env: AppEnv, port: number) =>
  Effect.gen(function*() {
    const platform = yield* Platform
    return yield* platform.updateEnv(uuid, env, String(port)).pipe(
      Effect.as("changed"),
      Effect.orElse(() =>
        platform.deleteEnv(uuid, env).pipe(
          Effect.zipRight(platform.createEnv(uuid, hostPortKey, String(port))),
          Effect.as("created again")
        )
      )
    )
  })

/**
 * Upsert step 6: gives the application its port.
 * @param planned what was decided before; where nothing was, the variables are read now
 */
export const setHostPort = Effect.fn("setHostPort")(function*(
  plan: AppPlan,
  uuid: string,
  planned: Option.Option<PortDecision>,
  agreed: Agreed,
  intent: Intent
): Effect.fn.Return<HostPortSet, PlatformFailure | SettingsError | PortHidden | StepMoved, Platform> {
  if (Option.isNone(plan.port)) return unchanged("no port")
  const port = plan.port.value
  const platform = yield* Platform
  const decision = Option.isSome(planned) ? planned.value : yield* decideHostPort(Option.some(uuid), port)
  const { action, envs } = decision
  yield* agreed(hostPortWords(decision, port))
  const change = yield* intent(hostPortChange(action, port))
  const changed = (detail: string): HostPortSet => ({ detail, change })
  return yield* HostPortAction.$match(action, {
    Keep: () =>
      Effect.succeed(Option.match(change, {
        onNone: () => unchanged(`${hostPortKey} is ${port} already`),
        onSome: (made) => changed(doneBefore(made))
      })),
    Create: () =>
      Effect.map(platform.createEnv(uuid, hostPortKey, String(port)), () => {
        const doubt = envs._tag === "Right" ? "" : `; the variables could not be read: ${envs.left.message}`
        return changed(`${hostPortKey} set to ${port}${doubt}`)
      }),
    Change: ({ env, old }) =>
      Effect.map(
        replace(uuid, env, port),
        (how) => changed(`${hostPortKey} ${how}: ${old ?? "no value"} is now ${port}`)
      ),
    Stop: ({ reason }) => new PortHidden({ reason })
  })
})
