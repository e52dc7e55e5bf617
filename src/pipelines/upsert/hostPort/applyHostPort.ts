import { Effect, Option } from "effect"
import type { Change } from "../../../schema/applications/Changelog.ts"
import { hostPortKey } from "../../../schema/applications/hostPortKey.ts"
import type { AppEnv, PlatformFailure } from "../../../schema/applications/PlatformApp.ts"
import { PortHidden, type StepMoved } from "../../../schema/applications/Upsert.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import { Platform } from "../../../services/platform/Platform.ts"
import type { AppPlan } from "../../applications/appPlan.ts"
import { describeEarlierChange, type Intent } from "../steps/intent.ts"
import type { MatchesPlan } from "../steps/matchesPlan.ts"
import {
  buildHostPortChange,
  decideHostPort,
  describeHostPortAction,
  HostPortAction,
  type PortDecision
} from "./decideHostPort.ts"

/** Outcome of the step `env`, with the change if there is one. */
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
 * Upsert step 6: sets the application's port.
 * @param planned an earlier decision; without one, the variables are read now
 */
export const applyHostPort = Effect.fn("applyHostPort")(function*(
  plan: AppPlan,
  uuid: string,
  planned: Option.Option<PortDecision>,
  matches: MatchesPlan,
  intent: Intent
): Effect.fn.Return<HostPortSet, PlatformFailure | SettingsError | PortHidden | StepMoved, Platform> {
  if (Option.isNone(plan.port)) return unchanged("no port")
  const port = plan.port.value
  const platform = yield* Platform
  const decision = Option.isSome(planned) ? planned.value : yield* decideHostPort(Option.some(uuid), port)
  const { action, envs } = decision
  yield* matches(describeHostPortAction(decision, port))
  const change = yield* intent(buildHostPortChange(action, port))
  const changed = (detail: string): HostPortSet => ({ detail, change })
  return yield* HostPortAction.$match(action, {
    Keep: () =>
      Effect.succeed(Option.match(change, {
        onNone: () => unchanged(`${hostPortKey} is ${port} already`),
        onSome: (made) => changed(describeEarlierChange(made))
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
