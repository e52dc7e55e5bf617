import { Effect } from "effect"
import { usualSshPort } from "../../schema/Server.ts"
import { HostKeyTaken, type ServerToStore } from "../../schema/ServerToStore.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { FirstContact } from "../../services/ssh/FirstContact.ts"

/** Adds a server or replaces one, and insists from then on on the host key that was confirmed for it. */
export const storeServer = Effect.fn("storeServer")(function*(
  { hostKey, newId, replacesHostKey, uniqueName, ...input }: ServerToStore
) {
  const settings = yield* Settings
  const wishes = { newId: newId ?? undefined, uniqueName: uniqueName ?? false }
  // Nothing is confirmed for a server that is then refused.
  yield* settings.checkServer(input, wishes)
  // Before it is stored: nothing may connect to it without insisting on the key.
  if (typeof hostKey === "string") {
    const port = input.port ?? usualSshPort
    const contact = yield* FirstContact
    const standing = yield* contact.confirm(input.host, port, hostKey, replacesHostKey ?? undefined)
    if (standing !== "confirmed") {
      return yield* new HostKeyTaken({ host: input.host, port, remembered: standing.remembered, confirmed: hostKey })
    }
  }
  return yield* settings.saveServer(input, wishes)
})
