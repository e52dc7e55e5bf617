import { Context, type Effect, type Scope } from "effect"
import type { Berth, Door } from "../../client/Berth.ts"
import type { ServiceSelection } from "../../client/node/connect.ts"
import type { Failed, Usage } from "../terminal/commandErrors.ts"
import type { Screen } from "../terminal/Screen.ts"

/** Opens the service that a command works with. */
export class Connection extends Context.Tag("berth/cli/Connection")<Connection, {
  /**
   * Connects to the given address or `BERTH_URL`, else to this user's running service with the same settings, else starts
   * a scoped service in this process. Asks to confirm settings found in the working directory. `door` defaults to `cli`.
   */
  readonly open: (
    wanted: ServiceSelection,
    door?: Door
  ) => Effect.Effect<Berth["Type"], Failed | Usage, Scope.Scope | Screen>
}>() {}
