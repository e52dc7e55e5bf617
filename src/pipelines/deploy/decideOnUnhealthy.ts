import { Effect } from "effect"
import type { OnUnhealthy } from "../../schema/deploy/Deploy.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Handling of an unhealthy version: from the request, else from `container.json`, else from the setting. */
export const decideOnUnhealthy = (
  ofRequest: OnUnhealthy | null | undefined,
  ofProject: OnUnhealthy | null | undefined
): Effect.Effect<OnUnhealthy, SettingsError, Settings> => {
  const chosen = ofRequest ?? ofProject
  return chosen === null || chosen === undefined
    ? Effect.flatMap(Settings, (settings) => settings.get("deploy.onUnhealthy"))
    : Effect.succeed(chosen)
}
