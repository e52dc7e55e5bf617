import { Effect, Either } from "effect"
import type { RunsQuery } from "../../schema/runs/Run.ts"
import { findServer } from "../../schema/servers/findServer.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Server id that runs record. A server that is no longer stored is found by the requested id. */
const idOf = (idOrName: string) =>
  Effect.gen(function*() {
    const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
    return yield* Either.match(findServer(stored, idOrName), {
      onLeft: (error) => error._tag === "ServerAmbiguous" ? Effect.fail(error) : Effect.succeed(idOrName),
      onRight: ({ id }) => Effect.succeed(id)
    })
  })

/** The runs that a query asks for, newest first; a server may be named by its id or its name. */
export const listRuns = Effect.fn("listRuns")(function*({ serverId, ...query }: RunsQuery) {
  const runs = yield* Runs
  return yield* runs.list(serverId === undefined ? query : { ...query, serverId: yield* idOf(serverId) })
})
