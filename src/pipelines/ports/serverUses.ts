import { Effect } from "effect"
import { execute } from "../../remote/execute.ts"
import { parsePorts, portsCommand } from "../../remote/server/portsCommand.ts"
import { proxyHome } from "../routes/proxyHome.ts"
import { unreadable } from "./declaredUses.ts"

/** The ports that programs of the proxy's server listen on, and that Docker publishes there. */
export const serverUses = Effect.gen(function*() {
  const { server } = yield* proxyHome
  const { stdout } = yield* execute(server, portsCommand(server.useSudo), { timeout: "30 seconds" })
  const { ports, unread } = parsePorts(stdout)
  return { uses: ports, unread: unread.map((what) => `The ports in use on "${server.name}" are unknown: ${what}`) }
}).pipe(Effect.catchAll(unreadable("The ports in use on the proxy's server are")))
