import { Effect } from "effect"
import { usualSshPort } from "../../schema/Server.ts"
import type { ServerToStore } from "../../schema/ServerToStore.ts"
import { Settings } from "../../services/settings/Settings.ts"
import { FirstContact } from "../../services/ssh/FirstContact.ts"

/** Adds a server or replaces one, and insists from then on on the host key that was confirmed for it. */
export const storeServer = Effect.fn("storeServer")(function*({ hostKey, ...input }: ServerToStore) {
  // Before it is stored: nothing may connect to it without insisting on the key.
  if (typeof hostKey === "string") {
    yield* (yield* FirstContact).confirm(input.host, input.port ?? usualSshPort, hostKey)
  }
  return yield* (yield* Settings).saveServer(input)
})
