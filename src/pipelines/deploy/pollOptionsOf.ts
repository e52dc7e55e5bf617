import { Duration, Effect, Option } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"
import type { RemoteRelease } from "../remote/releases.ts"
import type { PollOptions } from "./awaitHealth.ts"

/** How long the stack of a release may take to get healthy, and how often it is inspected. */
export const pollOptionsOf = (
  { manifest: { healthMillis } }: Pick<RemoteRelease, "manifest">
): Effect.Effect<PollOptions, SettingsError, Settings> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const interval = yield* settings.get("deploy.healthInterval")
    const timeout = Option.isSome(healthMillis)
      ? Duration.millis(healthMillis.value)
      : yield* settings.get("deploy.healthTimeout")
    return { interval, timeout }
  })
