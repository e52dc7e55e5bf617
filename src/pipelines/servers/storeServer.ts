import { Effect, Option } from "effect"
import {
  HostKeyTaken,
  ServerForbidden,
  type ServerInput,
  type ServerToStore,
  usualSshPort
} from "../../schema/servers.ts"
import { cut } from "../../schema/words.ts"
import { CurrentCaller } from "../../services/access/Caller.ts"
import { Settings, type StoredAccess } from "../../services/settings/Settings.ts"
import { FirstContact } from "../../services/ssh/FirstContact.ts"
import { buildSettingsChanged } from "../settings.ts"
import { resolveJumpHost } from "./servers.ts"

/** Finds the stored server that an input replaces. */
const replacedBy = ({ id }: ServerInput) =>
  id === undefined || id === null
    ? Effect.succeedNone
    : Effect.flatMap(Settings, (settings) => settings.storedServer(id)).pipe(
      Effect.map((stored) => stored.server.id === id ? Option.some(stored) : Option.none()),
      Effect.catchTags({ ServerNotFound: () => Effect.succeedNone, ServerAmbiguous: () => Effect.succeedNone })
    )

/** Finds the host key that the settings require of the machine of an input. */
const findRequired = ({ host, port = usualSshPort }: ServerInput, replaced: Option.Option<StoredAccess>) =>
  Option.getOrUndefined(replaced.pipe(
    Option.filter(({ server }) => server.host === host && server.port === port),
    Option.map(({ server }) => server.hostKey)
  ))

/** Previews `storeServer`: the server and the diff of the settings file. Writes and confirms nothing. */
export const planServer = Effect.fn("planServer")(function*(
  { newId, replacesHostKey: _replaced, uniqueName, ...input }: ServerToStore
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
  { newId, replacesHostKey, uniqueName, ...input }: ServerToStore
) {
  const { hostKey } = input
  const settings = yield* Settings
  const options = { newId: newId ?? undefined, uniqueName: uniqueName ?? false }
  // Do not confirm a host key for a server that is then rejected.
  yield* settings.checkServer(input, options)
  const { isLocal = false } = yield* CurrentCaller
  if (hostKey === null && !isLocal && findRequired(input, yield* replacedBy(input)) !== undefined) {
    return yield* new ServerForbidden({
      reason: "Without hostKey, any key that the server shows could be remembered as right"
    })
  }
  // Confirmed before the server is stored, so that no connection can skip the key check.
  if (typeof hostKey === "string") {
    const { host, port = usualSshPort, username } = input
    const replaced = yield* replacedBy(input)
    const via = yield* resolveJumpHost(input.jump, input.jump === undefined ? replaced : Option.none())
    const required = findRequired(input, replaced)
    if (required !== undefined && required !== hostKey && required !== replacesHostKey) {
      return yield* new HostKeyTaken({ host, port, remembered: required, confirmed: hostKey })
    }
    const contact = yield* FirstContact
    const address = { host, port, username, ...(via === undefined ? {} : { via }) }
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
