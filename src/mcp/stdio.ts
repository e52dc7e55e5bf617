import { Effect } from "effect"
import { Berth } from "../client/Berth.ts"
import type { BerthError } from "../client/BerthError.ts"
import { mayChange } from "../services/access/rights.ts"
import { offerFor } from "./Offer.ts"
import { makeRunRequest } from "./RunRequest.ts"

/**
 * Speaks with one agent over standard input and output, until it closes them. What a person should read goes to standard
 * error meanwhile. An agent that the service lets only read is offered no more.
 */
export const serveAgent = ({ readOnly }: { readonly readOnly: boolean }): Effect.Effect<void, BerthError, Berth> =>
  Effect.scoped(Effect.gen(function*() {
    const berth = yield* Berth
    const { role } = yield* berth.use((api) => api.showSession({}))
    const offer = offerFor({ readOnly: readOnly || !mayChange(role) })
    const run = (yield* makeRunRequest)(Effect.provideService(Berth, berth))
    const { agentServer } = yield* Effect.promise(() => import("./agentServer.ts"))
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
