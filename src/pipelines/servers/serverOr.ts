import { Effect } from "effect"
import type { ServerAccess, ServerUnresolved } from "../../schema/Server.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** A stored server. That there is none is told as it is; whatever else is wrong with the settings, in the words of `failed`. */
export const serverOr = <E>(
  id: string,
  failed: (reason: string) => E
): Effect.Effect<ServerAccess, ServerUnresolved | E, Settings> =>
  Effect.mapError(
    Effect.flatMap(Settings, (settings) => settings.server(id)),
    (error) => error._tag === "ServerNotFound" || error._tag === "ServerAmbiguous" ? error : failed(error.message)
  )
