import { Effect } from "effect"
import { Berth } from "../client/Berth.ts"
import { makeRunRequest } from "./RunRequest.ts"
import { toolsFor } from "./toolsFor.ts"

/**
 * Speaks with one agent over standard input and output, until it closes them. What a person should read goes to standard
 * error meanwhile.
 */
export const serveAgent = (rights: { readonly readOnly: boolean }): Effect.Effect<void, never, Berth> =>
  Effect.scoped(Effect.gen(function*() {
    const berth = yield* Berth
    const run = (yield* makeRunRequest)(Effect.provideService(Berth, berth))
    const { agentServer } = yield* Effect.promise(() => import("./agentServer.ts"))
    const { serveStdio, StdioServerTransport } = yield* Effect.promise(() =>
      import("@modelcontextprotocol/server/stdio")
    )
    yield* Effect.async<void>((resume) => {
      const transport = new StdioServerTransport()
      const handle = serveStdio(() => agentServer(toolsFor(rights), run), { transport })
      const end = () => resume(Effect.void)
      process.stdin.once("end", end).once("close", end)
      return Effect.promise(() => handle.close())
    })
  }))
