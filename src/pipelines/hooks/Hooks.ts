import { Data, Duration, Option } from "effect"
import type { DeployHooks, PlannedHook } from "../../schema/deploy/Hooks.ts"

const defaultTimeout = Duration.minutes(10)

/** Command of a hook in a container of the new version. */
export interface StartHook {
  readonly service: string
  readonly command: ReadonlyArray<string>
}

/** Commands around one deploy. */
export interface Hooks {
  readonly beforeDeploy: ReadonlyArray<ReadonlyArray<string>>
  readonly beforeStart: Option.Option<StartHook>
  readonly afterDeploy: ReadonlyArray<ReadonlyArray<string>>
  /** Time limit of each command. */
  readonly timeout: Duration.Duration
}

/** A command of a hook failed. */
export class HookFailed extends Data.TaggedError("HookFailed")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

/** Hooks that `container.json` declares; undefined if it has no command. */
export const toHooks = (declared: DeployHooks | null | undefined): Hooks | undefined => {
  const hooks: Hooks = {
    beforeDeploy: declared?.beforeDeploy ?? [],
    beforeStart: Option.fromNullable(declared?.beforeStart),
    afterDeploy: declared?.afterDeploy ?? [],
    timeout: declared?.timeout ?? defaultTimeout
  }
  const { afterDeploy, beforeDeploy, beforeStart } = hooks
  return beforeDeploy.length + afterDeploy.length === 0 && Option.isNone(beforeStart) ? undefined : hooks
}

/** Commands in their order, as a plan lists them and its hash covers them. */
export const listPlannedHooks = ({ afterDeploy, beforeDeploy, beforeStart }: Hooks): ReadonlyArray<PlannedHook> => [
  ...beforeDeploy.map((command): PlannedHook => ({ when: "beforeDeploy", command })),
  ...Option.toArray(beforeStart).map((hook): PlannedHook => ({ when: "beforeStart", ...hook })),
  ...afterDeploy.map((command): PlannedHook => ({ when: "afterDeploy", command }))
]
