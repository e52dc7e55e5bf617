import { Effect, Option } from "effect"
import type { JumpRefused } from "../../schema/servers/JumpRefused.ts"
import type { ServerAccess, ServerInput } from "../../schema/servers/Server.ts"
import type { SettingsError } from "../../schema/Settings.ts"
import { Settings, type StoredAccess } from "../../services/settings/Settings.ts"

/** Resolves the jump host of a request's server: its own, or else that of the stored server. */
export const resolveJumpHost = (
  jump: ServerInput["jump"],
  stored: Option.Option<StoredAccess>
): Effect.Effect<ServerAccess | undefined, JumpRefused | SettingsError, Settings> => {
  if (jump === null) return Effect.succeed(undefined)
  if (jump !== undefined) return Effect.flatMap(Settings, (settings) => settings.jumpRoute(jump))
  return Option.match(stored, { onNone: () => Effect.succeed(undefined), onSome: ({ via }) => via })
}
