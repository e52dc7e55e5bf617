import { Duration, Effect, Option } from "effect"
import type { RemoteRelease } from "../../../remote/activation/releasesCommand.ts"
import type { SettingsError } from "../../../schema/Settings.ts"
import { Settings } from "../../../services/settings/Settings.ts"

/** Timeout of the wait for a healthy stack, and the interval between inspections. */
export interface HealthOptions {
  readonly timeout: Duration.Duration
  readonly interval: Duration.Duration
}

/** Health options of a stack: the project's own timeout (`container.json`) takes precedence over the setting. */
export const readHealthOptions = (
  ofProject: Option.Option<Duration.Duration> = Option.none()
): Effect.Effect<HealthOptions, SettingsError, Settings> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const interval = yield* settings.get("deploy.healthInterval")
    const timeout = Option.isSome(ofProject) ? ofProject.value : yield* settings.get("deploy.healthTimeout")
    return { interval, timeout }
  })

/** Health options of a release, whose manifest records the project's timeout. */
export const readReleaseHealthOptions = ({ manifest: { healthMillis } }: Pick<RemoteRelease, "manifest">) =>
  readHealthOptions(Option.map(healthMillis, Duration.millis))
