import { Effect } from "effect"
import type { SettingsError } from "../../schema/Settings.ts"
import type { Repository } from "../../schema/webhooks/GitHook.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** The repository of an application, under the configured owner. */
export const resolveRepository = (name: string): Effect.Effect<Repository, SettingsError, Settings> =>
  Effect.flatMap(Settings, (settings) => Effect.map(settings.get("gitHost.owner"), (owner) => ({ owner, name })))
