import { Effect, Option } from "effect"
import { type ServerInput, usualSshPort } from "../../schema/servers/Server.ts"
import { HostKeyTaken, ServerForbidden, type ServerToStore } from "../../schema/servers/ServerToStore.ts"
import { cut } from "../../schema/words/quoted.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { FirstContact } from "../../services/ssh/FirstContact.ts"
import { buildSettingsChanged } from "../settings/buildSettingsChanged.ts"
import { resolveJumpHost } from "./resolveJumpHost.ts"

/** Finds the stored server that an input replaces. */
const replacedBy = ({ id }: ServerInput) =>
  id === undefined || id === null
    ? Effect.succeedNone
    : Effect.flatMap(Settings, (settings) => settings.storedServer(id)).pipe(
      Effect.map((stored) => stored.server.id === id ? Option.some(stored) : Option.none()),
      Effect.catchTags({ ServerNotFound: () => Effect.succeedNone, ServerAmbiguous: () => Effect.succeedNone })
    )

/** Previews `storeServer`: the server and the diff of the settings file. Writes and confirms nothing. */
export const planServer = Effect.fn("planServer")(function*(
  { hostKey: _hostKey, newId, replacesHostKey: _replaced, uniqueName, ...input }: ServerToStore
) {
  const settings = yield* Settings
  const { server, text } = yield* settings.planServer(input, {
    newId: newId ?? undefined,
    uniqueName: uniqueName ?? false
  })
  return { server, change: yield* buildSettingsChanged(settings.file, text) }
})

/** Adds or replaces a server; from then on its confirmed host key is required. */
export const storeServer = Effect.fn("storeServer")(function*(
  { hostKey, newId, replacesHostKey, uniqueName, ...input }: ServerToStore
) {
  const settings = yield* Settings
  const options = { newId: newId ?? undefined, uniqueName: uniqueName ?? false }
  // Do not confirm a host key for a server that is then rejected.
  yield* settings.checkServer(input, options)
  // Confirmed before the server is stored, so that no connection can skip the key check.
  if (typeof hostKey === "string") {
    const { host, port = usualSshPort, username } = input
    const via = yield* resolveJumpHost(input.jump, input.jump === undefined ? yield* replacedBy(input) : Option.none())
    const contact = yield* FirstContact
    const address = { host, port, username, ...(via === undefined ? {} : { via }) }
    const { isLocal = false } = yield* CurrentCaller
    const standing = yield* contact.confirm(address, hostKey, replacesHostKey ?? undefined, isLocal)
    if (standing !== "confirmed") {
      if (standing.route !== undefined && !isLocal) {
        return yield* new ServerForbidden({
          reason:
            `${cut(host)}:${port} is remembered to be reached ${standing.route.remembered}, and this server would ` +
            `be reached ${standing.route.now}`
        })
      }
      return yield* new HostKeyTaken({ host, port, remembered: standing.remembered, confirmed: hostKey })
    }
  }
  return yield* settings.saveServer(input, options)
})
