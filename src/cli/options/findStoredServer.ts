import { Effect, Either } from "effect"
import { Berth } from "../../client/Berth.ts"
import { findServer, formatServerReference } from "../../schema/servers/findServer.ts"
import { suggestNearest } from "../../schema/words/nearest.ts"
import { quoteInput } from "../../schema/words/quoted.ts"
import { Failed } from "../terminal/commandErrors.ts"

/** Finds a stored server by its id, else by its unique name; adds its display name. */
export const findStoredServer = (idOrName: string) =>
  Effect.gen(function*() {
    const servers = yield* (yield* Berth).use((api) => api.listServers({}))
    if (servers.length === 0) {
      return yield* new Failed({
        message: "No server is stored in the settings that are used here: berth doctor says which file that is, and " +
          "berth server add adds one"
      })
    }
    const found = findServer(servers, idOrName)
    if (Either.isRight(found)) return { server: found.right, callName: formatServerReference(servers, found.right) }
    if (found.left._tag === "ServerAmbiguous") return yield* new Failed({ message: found.left.message })
    const meant = suggestNearest(idOrName, servers.flatMap(({ id, name }) => [id, name]))
    return yield* new Failed({
      message: `No server with the id or the name ${
        quoteInput(idOrName)
      } is stored.${meant} berth server list names them`
    })
  })
