import { Effect } from "effect"
import { Berth } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { mayChange } from "../services/access/Caller.ts"
import { makeRunAgentRequest } from "./requests.ts"
import { buildOffer } from "./server.ts"

/**
 * Serves one agent over standard input and output until it closes them. Messages for the user go to standard
 * error. An agent with a viewer's token is offered the read-only tools.
 */
export const serveAgent = ({ readOnly }: { readonly readOnly: boolean }): Effect.Effect<void, BerthError, Berth> =>
  Effect.scoped(Effect.gen(function*() {
    const berth = yield* Berth
    const { role } = yield* berth.use((api) => api.showSession({}))
    const offer = buildOffer({ readOnly: readOnly || !mayChange(role) })
    const run = (yield* makeRunAgentRequest)(Effect.provideService(Berth, berth))
    const { makeAgentServer: agentServer } = yield* Effect.promise(() => import("./server.ts"))
    const { serveStdio, StdioServerTransport } = yield* Effect.promise(() =>
      import("@modelcontextprotocol/server/stdio")
    )
    yield* Effect.async<void>((resume) => {
      const transport = new StdioServerTransport()
      const handle = serveStdio(() => agentServer(offer, run), { transport })
      const end = () => resume(Effect.void)
      process.stdin.once("end", end).once("close", end)
      return Effect.promise(() => handle.close())
    })
  }))
