import { Effect, Either } from "effect"
import type { RunsQuery } from "../../schema/runs/Run.ts"
import { findServer } from "../../schema/servers/findServer.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** Server id as recorded in runs. A server that is no longer stored is looked up by the requested id. */
const idOf = (idOrName: string) =>
  Effect.gen(function*() {
    const stored = yield* Effect.orElseSucceed((yield* Settings).servers, () => [])
    return yield* Either.match(findServer(stored, idOrName), {
      onLeft: (error) => error._tag === "ServerAmbiguous" ? Effect.fail(error) : Effect.succeed(idOrName),
      onRight: ({ id }) => Effect.succeed(id)
    })
  })

/** Lists the runs that match a query, newest first; a server may be given by id or name. */
export const listRuns = Effect.fn("listRuns")(function*({ serverId, ...query }: RunsQuery) {
  const runs = yield* Runs
  return yield* runs.list(serverId === undefined ? query : { ...query, serverId: yield* idOf(serverId) })
})
