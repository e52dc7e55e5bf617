import { Effect } from "effect"
import type { ServerAccess } from "../../schema/servers/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import type { Settings } from "../../services/settings/Settings.ts"
import type { Ssh } from "../../services/ssh/Ssh.ts"
import { type HealthOptions, readHealthOptions, readReleaseHealthOptions } from "./health/healthOptions.ts"
import { readReleases } from "./readReleases.ts"

/** Health options of the release that runs at a remote path; the settings' options if none is known. */
export const readCurrentHealthOptions = (
  server: ServerAccess,
  remotePath: string
): Effect.Effect<HealthOptions, SettingsError, Settings | Ssh> =>
  readReleases(server, remotePath).pipe(
    Effect.orElseSucceed(() => []),
    Effect.flatMap((releases) => {
      const current = releases.find(({ isCurrent }) => isCurrent)
      return current === undefined ? readHealthOptions() : readReleaseHealthOptions(current)
    })
  )
