import { Effect } from "effect"
import type { OnUnhealthy } from "../../schema/deploy/Deploy.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Line with the number of releases to keep: at least 2 if an unhealthy deploy is rolled back. */
export const formatKeepReleases = (onUnhealthy: OnUnhealthy): Effect.Effect<string, SettingsError, Settings> =>
  Effect.gen(function*() {
    const kept = yield* (yield* Settings).get("deploy.keepReleases")
    return `keep\t${onUnhealthy === "rollback" ? Math.max(kept, 2) : kept}`
  })
