import { Effect } from "effect"
import { Berth } from "../client/Berth.ts"
import { didYouMean } from "../schema/nearest.ts"
import { quoted } from "../schema/quoted.ts"
import { Failed } from "./Failure.ts"

/** The stored server of this id, or else the only one of this name; letters in capitals or not. */
export const storedServer = (idOrName: string) =>
  Effect.gen(function*() {
    const servers = yield* (yield* Berth).use((api) => api.listServers({}))
    const named = servers.filter(({ name }) => name.toLowerCase() === idOrName.toLowerCase())
    const stored = servers.find(({ id }) => id === idOrName) ?? (named.length === 1 ? named[0] : undefined)
    if (stored !== undefined) return stored
    if (servers.length === 0) {
      return yield* new Failed({
        message: "No server is stored in the settings that are used here: berth doctor says which file that is, and " +
          "berth server add adds one"
      })
    }
    if (named.length > 1) {
      const ids = named.map(({ id }) => id).slice(0, 20).join(", ")
      return yield* new Failed({
        message: `${named.length} stored servers are named ${quoted(idOrName)}: name one by its id: ${ids}`
      })
    }
    const meant = didYouMean(idOrName, servers.flatMap(({ id, name }) => [id, name]))
    return yield* new Failed({
      message: `No server with the id or the name ${quoted(idOrName)} is stored.${meant} berth server list names them`
    })
  })
