import { Effect } from "effect"
import type { ServerAccess, ServerUnresolved } from "../../schema/servers/Server.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Finds a stored server. Passes on the error for a missing one; maps other settings errors with `failed`. */
export const findServerOrFail = <E>(
  id: string,
  failed: (reason: string) => E
): Effect.Effect<ServerAccess, ServerUnresolved | E, Settings> =>
  Effect.mapError(
    Effect.flatMap(Settings, (settings) => settings.server(id)),
    (error) => error._tag === "ServerNotFound" || error._tag === "ServerAmbiguous" ? error : failed(error.message)
  )
