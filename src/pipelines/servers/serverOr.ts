import { Effect } from "effect"
import type { ServerAccess, ServerNotFound } from "../../schema/Server.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** A stored server. That there is none is told as it is; whatever else is wrong with the settings, in the words of `failed`. */
export const serverOr = <E>(
  id: string,
  failed: (reason: string) => E
): Effect.Effect<ServerAccess, ServerNotFound | E, Settings> =>
  Effect.mapError(
    Effect.flatMap(Settings, (settings) => settings.server(id)),
    (error) => error._tag === "ServerNotFound" ? error : failed(error.message)
  )
