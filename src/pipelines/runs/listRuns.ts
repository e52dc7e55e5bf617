import { Effect, Either } from "effect"
import { findServer } from "../../schema/findServer.ts"
import type { RunsQuery } from "../../schema/Run.ts"
import { Runs } from "../../services/runs/Runs.ts"
import { Settings } from "../../services/settings/Settings.ts"

/** The id that runs note of a server. One that is no longer stored keeps the id by which it is asked for. */
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
