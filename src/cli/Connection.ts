import { Context, type Effect, type Scope } from "effect"
import type { Berth, Door } from "../client/Berth.ts"
import type { Wanted } from "../client/node/connect.ts"
import type { Failed, Usage } from "./Failure.ts"
import type { Screen } from "./terminal/Screen.ts"

/** The way to the service that a command works with. */
export class Connection extends Context.Tag("berth/cli/Connection")<Connection, {
  /**
   * The service at the address that is given or in `BERTH_URL`; else the one of this user that runs with the same
   * settings; else the whole service in this process, which ends with the scope. Asks whether settings count that nobody
   * named. Its runs bear the door: the command line unless given.
   */
  readonly open: (
    wanted: Wanted,
    door?: Door
  ) => Effect.Effect<Berth["Type"], Failed | Usage, Scope.Scope | Screen>
}>() {}
